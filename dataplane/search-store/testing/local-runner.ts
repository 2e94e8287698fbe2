import type { Clock } from '../../ports/clock.ts'
import { executeQuery } from '../calls/execute-query.ts'
import type { QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { LeasedIndex } from '../leases/lease.ts'
import type { Leases } from '../leases/leases.ts'
import { LOOP_TURNS, QUERY_BUDGET_MS } from '../query/budget/pace.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import { createDamageLog } from '../storage/damaged-segment.ts'
import { createTableCopy } from '../storage/document-table/table-copy.ts'
import type { ReadableIndex } from '../storage/index-storage.ts'
import { createLogCopy } from '../storage/log-engine/log-copy.ts'
import { createByteCache } from '../storage/log-engine/sealed/byte-cache.ts'

/** Runs queries in the calling thread, over its own storages: without limits, and without protection from them. */
export function createLocalRunner({
  catalog,
  clock,
  leases,
  log,
}: {
  readonly catalog: Catalog
  readonly clock: Clock
  readonly leases: Leases
  readonly log: { error(fields: object, message: string): void }
}): QueryRunner {
  const logDamage = createDamageLog(log)
  let running = 0
  return {
    async run(call, signal) {
      running++
      const endMs = clock.nowMs() + QUERY_BUDGET_MS
      try {
        return await executeQuery(call, {
          clock,
          tellDamage: ({ text }) => logDamage(text),
          leftMs: () => endMs - clock.nowMs(),
          turns: {
            async next() {
              await LOOP_TURNS.next()
              signal.throwIfAborted()
            },
          },
          async resolve(expression, options) {
            if (call.indices !== undefined) return openLeased(call.indices)
            return catalog.resolve(expression, options).map(({ index, filter }) => ({ storage: index.storage, filter }))
          },
          resolvePointInTime: async pointInTime => openLeased(leases.pointInTime(pointInTime)),
        })
      } finally {
        running--
      }
    },
    get counters() {
      return { running, cancelled: 0, refused: 0, ended: {} }
    },
    async stop() {},
  }
}

const CACHE_BYTES = 1024 * 1024

function openLeased(indices: readonly LeasedIndex[]): Promise<readonly SearchTarget[]> {
  return Promise.all(indices.map(async ({ storage, filter }) => ({ storage: await openFrozen(storage), filter })))
}

function openFrozen(frozen: LeasedIndex['storage']): Promise<ReadableIndex> {
  const messages = [...frozen.feed().next()].map(({ head, bytes }) => ({ head, bytes: Buffer.concat(bytes) }))
  const copy = messages[0]!.head.kind === 'table' ? createTableCopy() : createLogCopy(createByteCache(CACHE_BYTES))
  for (const message of messages) copy.apply(message)
  return copy.snapshot().open(async () => undefined)
}
