/** Finds documents that are due, some of each group, so that one group's many do not hide another's few; of a group the most severe first. */
import { SEVERITIES } from '../../contract/platforms.ts'
import type { SearchStore, Versioned } from '../../ports/search-store.ts'
import { inAnyOrder } from '../in-any-order.ts'

export interface DueQuestion {
  readonly store: SearchStore
  readonly index: string
  /** Filter clauses, all of which hold. */
  readonly filter: readonly object[]
  /** Order of documents of one severity, by their field `severity`. */
  readonly sort: readonly object[]
  /** The keyword field that names the group. */
  readonly groupField: string
  /** How many of a group are wanted now. */
  room(group: string): number
}

export interface DueDocuments<T> {
  readonly groups: ReadonlyMap<string, readonly Versioned<T>[]>
  /** By group, how many there are in all. */
  readonly counts: ReadonlyMap<string, number>
}

const PAGE_SIZE = 100
const MAX_GROUPS = 1_000
/** Groups that are asked for on their own in one round. */
const MAX_ASKED = 50
/** Beyond what is wanted: some may be known already. */
const SPARE = 10
/** A document's score is the rank of its severity: where thousands are due, a target that takes one a second is told of the critical ones first. */
const BY_SEVERITY = SEVERITIES.toReversed().map((severity, rank) => ({
  constant_score: { filter: { term: { severity } }, boost: rank + 1 },
}))
const MOST_SEVERE_FIRST = { _score: { order: 'desc' } }

interface Groups {
  readonly groups?: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
}

/** One search where little is due; more only for groups that the first page does not show enough of. */
export async function findDue<T>({ store, index, filter, sort, groupField, room }: DueQuestion): Promise<DueDocuments<T>> {
  const search = (filters: readonly object[], size: number, aggs?: object) => {
    const query = { bool: { filter: filters, should: BY_SEVERITY } }
    return store.search<T>({
      index,
      takesPart: true,
      body: { size, track_total_hits: false, query, sort: [MOST_SEVERE_FIRST, ...sort], ...(aggs !== undefined && { aggs }) },
    })
  }
  const { hits, aggregations } = await search(filter, PAGE_SIZE, { groups: { terms: { field: groupField, size: MAX_GROUPS } } })
  const groups = new Map<string, Versioned<T>[]>()
  for (const hit of hits) {
    const group = String((hit.source as Readonly<Record<string, unknown>>)[groupField] ?? '')
    const found = groups.get(group)
    if (found === undefined) groups.set(group, [hit])
    else found.push(hit)
  }
  const buckets = (aggregations as Groups | undefined)?.groups?.buckets ?? []
  const counts = new Map([...groups].map(([group, found]) => [group, found.length]))
  for (const { key, doc_count } of buckets) counts.set(key, doc_count)
  if (hits.length < PAGE_SIZE) return { groups, counts }
  const missing = buckets.filter(({ key, doc_count }) => (groups.get(key)?.length ?? 0) < Math.min(room(key), doc_count))
  // Others come in the next rounds: chance gives all their turn.
  for (const { key } of inAnyOrder(missing).slice(0, MAX_ASKED)) {
    const { hits: own } = await search([...filter, { term: { [groupField]: key } }], room(key) + SPARE)
    groups.set(key, [...own])
  }
  return { groups, counts }
}
