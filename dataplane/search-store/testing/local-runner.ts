import type { Clock } from '../../ports/clock.ts'
import { executeQuery } from '../calls/execute-query.ts'
import type { QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { LOOP_TURNS, QUERY_BUDGET_MS } from '../query/budget/pace.ts'

/** Runs queries in the calling thread, over its own storages: without limits, and without protection from them. */
export function createLocalRunner({ catalog, clock }: { readonly catalog: Catalog; readonly clock: Clock }): QueryRunner {
  let running = 0
  return {
    async run(call, signal) {
      running++
      const endMs = clock.nowMs() + QUERY_BUDGET_MS
      try {
        return await executeQuery(call, {
          clock,
          leftMs: () => endMs - clock.nowMs(),
          turns: {
            async next() {
              await LOOP_TURNS.next()
              signal.throwIfAborted()
            },
          },
          async resolve(expression, options) {
            return catalog.resolve(expression, options).map(({ index, filter }) => ({ storage: index.storage, filter }))
          },
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
