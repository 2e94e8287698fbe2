/** A search store that keeps what it was asked, by which line of the product, and what it answered. */
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SearchRequest, SearchResult, SearchStore } from '../../../ports/search-store.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')

/** How ids begin of what several change at once: calls about it come in any order, and are not kept. */
export const CONTESTED = 'contested-'

export interface RecordedStore {
  readonly store: SearchStore
  /** Lets something happen between a reader's look and its next `put`. */
  beforeNextPut(task: () => Promise<unknown>): void
  /** Every call with its outcome, in an order of its own, without what each store counts for itself. */
  calls(): readonly string[]
  /** `file:line` of the product's own code that called. */
  readonly callSites: ReadonlySet<string>
}

export function recordStore(store: SearchStore): RecordedStore {
  const calls: string[] = []
  const callSites = new Set<string>()
  let meddle: (() => Promise<unknown>) | undefined
  const wrap =
    (method: string, call: (...args: readonly unknown[]) => Promise<unknown>) =>
    async (...args: readonly unknown[]) => {
      const site = productLine(new Error().stack ?? '')
      if (site !== undefined) callSites.add(site)
      const note = (outcome: unknown) => {
        const text = JSON.stringify(withoutSeqNo({ method, args, outcome }), plain)
        if (!text.includes(CONTESTED)) calls.push(text)
      }
      try {
        if (method === 'put' && meddle !== undefined) {
          const task = meddle
          meddle = undefined
          await task()
        }
        const result = await call(...args)
        note(ordered(args, result))
        return result
      } catch (error) {
        note((error as Error).name)
        throw error
      }
    }
  const entries = Object.entries(store).map(([name, method]) => [name, wrap(name, method.bind(store))])
  return {
    store: Object.fromEntries(entries) as unknown as SearchStore,
    beforeNextPut(task) {
      meddle = task
    },
    calls: () => calls.toSorted(),
    callSites,
  }
}

/** Names of indices, and hits of a search that asks for no order, come in any. */
function ordered([request]: readonly unknown[], result: unknown): unknown {
  if (Array.isArray(result) && result.every(item => typeof item === 'string')) return result.toSorted()
  if ((request as SearchRequest | undefined)?.body?.['sort'] !== undefined) return result
  const { hits } = (result ?? {}) as Partial<SearchResult<unknown>>
  return hits === undefined ? result : { ...(result as object), hits: hits.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Sequence numbers as the last part of an order tell how calls of several at once came in. */
function withoutSeqNo<T extends { readonly args: readonly unknown[]; readonly outcome: unknown }>(call: T): T {
  const [request, ...others] = call.args as readonly (SearchRequest | undefined)[]
  const order = request?.body?.['sort']
  if (!Array.isArray(order) || !('_seq_no' in order.at(-1))) return call
  const { search_after: after, ...body } = request!.body as { readonly search_after?: readonly unknown[] }
  const args = [{ ...request!, body: { ...body, ...(after && { search_after: after.slice(0, -1) }) } }, ...others]
  const { hits, ...outcome } = call.outcome as SearchResult<unknown>
  return { ...call, args, outcome: { ...outcome, hits: hits.map(hit => ({ ...hit, sort: hit.sort?.slice(0, -1) })) } }
}

/** Versions and the words of a refusal are a store's own; bytes are texts; maps and members of objects have no order. */
function plain(key: string, value: unknown): unknown {
  if (key === 'seqNo' || key === 'primaryTerm') return undefined
  if (key === 'reason') return String(value).slice(0, 3)
  // OpenSearch gives some aggregations an empty `meta` that nobody asked for.
  if (key === 'meta' && JSON.stringify(value) === '{}') return undefined
  if (value instanceof Map) return [...value].sort()
  if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value)
    return Buffer.from(value.data as number[]).toString()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const TESTING = /\/testing\/|\.(test|real)\.ts$/

/** The nearest caller, where that is the product. */
function productLine(stack: string): string | undefined {
  const frames = [...stack.matchAll(/(file:\/\/[^\s():]+):(\d+):\d+/g)].map(([, url, line]) => ({
    file: relative(ROOT, fileURLToPath(url!)),
    line,
  }))
  const caller = frames.find(({ file }) => !file.endsWith('/recorded-store.ts'))
  return caller === undefined || TESTING.test(caller.file) ? undefined : `${caller.file}:${caller.line}`
}
