/** Answers of searches in which a part of the store is missing: an index or shard that cannot be read, or the store's own time limit. */
import type { Query, QueryFunction, QueryFunctionContext } from '@tanstack/react-query'

export interface MissingParts {
  /** Indices or shards that gave no answer, of `total`; 0 where the time limit alone cut the search off. */
  readonly failed: number
  readonly total: number
}

/** Undefined: the answer is whole. */
export function missingParts(answer: unknown): MissingParts | undefined {
  const { _shards: shards, timed_out: isTimedOut } = (answer ?? {}) as Searched
  const { failed = 0, total = 0 } = shards ?? {}
  return failed > 0 || isTimedOut === true ? { failed, total } : undefined
}

interface Searched {
  readonly _shards?: { readonly failed?: number; readonly total?: number }
  readonly timed_out?: boolean
}

/** A query that searches hands its signal to each of its searches: by the signal an answer is known to be of the query. */
const bySignal = new WeakMap<AbortSignal, MissingParts>()
const byQuery = new WeakMap<object, MissingParts>()

export function noteAnswer(signal: AbortSignal | undefined, answer: unknown): void {
  const missing = missingParts(answer)
  if (missing !== undefined && signal !== undefined) bySignal.set(signal, missing)
}

/** Parts that the last answer of a query lacks. */
export function missingOf(query: object): MissingParts | undefined {
  return byQuery.get(query)
}

/** For the `persister` of queries: reads as the query does, and remembers what its answer lacks. */
export async function readNoting<T>(read: QueryFunction<T>, context: QueryFunctionContext, query: Query): Promise<T> {
  const { signal } = context
  const data = await read(context)
  const missing = bySignal.get(signal)
  if (missing === undefined) byQuery.delete(query)
  else byQuery.set(query, missing)
  return data
}
