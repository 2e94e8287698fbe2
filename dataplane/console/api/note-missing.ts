/** Remembers of which queries the last answer lacks a part of the store. */
import type { Query, QueryFunction, QueryFunctionContext } from '@tanstack/react-query'
import { type MissingParts, missingParts } from './missing-parts.ts'

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
