/**
 * Answers plain searches over small tables in the store's own thread, and leaves all others to the query process. The product asks for its incidents and
 * dispatches each second: a process that did nothing else would be kept for that, and takes some 100 MB.
 */
import type { Clock } from '../../ports/clock.ts'
import { ApiError } from '../api-error.ts'
import { executeQuery } from '../calls/execute-query.ts'
import { isPlainSearch } from '../calls/plain-search.ts'
import type { ClientCall, QueryAnswer, QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { noRoomForAnswer } from '../http/answer/held-answers.ts'
import { resolveOptions } from '../http/request/index-parameters.ts'
import { LOOP_TURNS, QUERY_BUDGET_MS } from '../query/budget/pace.ts'
import type { SearchTarget } from '../query/run/search-target.ts'

export interface SparingRunnerConfig {
  readonly catalog: Pick<Catalog, 'resolve'>
  readonly clock: Clock
  /** Runs what is not answered here. */
  readonly others: QueryRunner
}

/** Bounds of all tables of a search together: such a search takes a few milliseconds at most. */
const MAX_TABLES = 64
const MAX_DOCUMENTS = 5_000
const MAX_BYTES = 4 * 1024 * 1024

export function createSparingRunner({ catalog, clock, others }: SparingRunnerConfig): QueryRunner {
  let running = 0

  async function answer(call: ClientCall, targets: readonly SearchTarget[], signal: AbortSignal): Promise<QueryAnswer> {
    const endMs = performance.now() + QUERY_BUDGET_MS
    const made = await executeQuery(call, {
      clock,
      leftMs: () => endMs - performance.now(),
      turns: {
        async next() {
          await LOOP_TURNS.next()
          signal.throwIfAborted()
        },
      },
      resolve: async () => targets,
      resolvePointInTime: async () => targets,
    })
    if (made.whole === undefined && !call.answerMemory.take(made.length ?? 0)) throw noRoomForAnswer()
    return made
  }

  return {
    async run(call, signal) {
      const targets = isPlainSearch(call) ? smallTables(catalog, call) : undefined
      if (targets === undefined) return others.run(call, signal)
      running++
      try {
        return await answer(call, targets, signal)
      } finally {
        running--
      }
    },
    expectUser: () => others.expectUser?.(),
    get counters() {
      const { counters } = others
      return { ...counters, running: counters.running + running }
    },
    stop: () => others.stop(),
  }
}

/** The tables that a search is over; undefined where one of its indices is no table, is not there, or they are not small. */
function smallTables(catalog: Pick<Catalog, 'resolve'>, call: ClientCall): readonly SearchTarget[] | undefined {
  const resolved = call.indices === undefined ? resolve(catalog, call) : undefined
  if (resolved === undefined || resolved.length > MAX_TABLES) return undefined
  let documents = 0
  let bytes = 0
  for (const { index, filter } of resolved) {
    const { isTable, docCount, sizeBytes } = index.storage
    if (isTable !== true || filter !== undefined) return undefined
    documents += docCount
    bytes += sizeBytes
  }
  if (documents > MAX_DOCUMENTS || bytes > MAX_BYTES) return undefined
  return resolved.map(({ index }) => ({ storage: index.storage, filter: undefined }))
}

/** Names that are refused are refused after a body that is, which others see to. */
function resolve(catalog: Pick<Catalog, 'resolve'>, { index, parameters }: ClientCall): ReturnType<Catalog['resolve']> | undefined {
  try {
    return catalog.resolve(index!, resolveOptions(parameters))
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
