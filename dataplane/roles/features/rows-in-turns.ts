/** Work on many rows, in turns: a caller with thousands of rows holds up neither small requests, nor the other tenants. */
import { setImmediate as giveWay } from 'node:timers/promises'
import { HttpError } from '../../http/http-error.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import { createTurns } from '../../limits/turns.ts'

/** Rows of one request. */
export const MAX_ROWS = 5_000
/** Rows that are read before others get their turn. A request of no more does not wait. */
const PORTION_ROWS = 250
/** The same of rows that are written: each portion is a sync of the disk. */
export const WRITE_PORTION_ROWS = 1_000
/** Larger requests at once. */
const MAX_RUNNING = 2
/** Larger requests under way or waiting, of one tenant and in all. */
const MAX_OF_TENANT = 32
const MAX_IN_ALL = 256

export interface RowTurns {
  /** Does the work on portions of the rows, in their order. Throws `HttpError` 429. */
  run<Row>(
    tenant: string | undefined,
    rows: readonly Row[],
    work: (portion: readonly Row[]) => Promise<void>,
    portionRows?: number,
  ): Promise<void>
}

export function createRowTurns(): RowTurns {
  const turns = createTurns({ running: MAX_RUNNING, inAll: MAX_IN_ALL, ofOwner: MAX_OF_TENANT })
  return {
    async run(tenant = '', rows, work, portionRows = PORTION_ROWS) {
      if (rows.length <= portionRows) return work(rows)
      const done = turns.take(tenant, async () => {
        for (const portion of portionsOf(rows, portionRows)) {
          await work(portion)
          await giveWay()
        }
      })
      if (done === undefined) throw new HttpError(429, 'too many requests of many rows are under way', { 'retry-after': '1' })
      await done
    },
  }
}
