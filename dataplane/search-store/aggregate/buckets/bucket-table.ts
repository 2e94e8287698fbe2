/** Counts matches per bucket and hands each bucket's matches to the aggregations below. */

import { grown } from '../../grown.ts'
import type { QueryMemory } from '../../query/budget/query-memory.ts'
import type { BucketBudget, CollectContext, Collector } from '../aggregation-collector.ts'
import type { MatchView } from '../match-view.ts'
import { type OrderPath, orderPath } from '../parse/order-path.ts'
import { MAX_BUCKETS, tooManyBuckets } from '../parse/parse-buckets.ts'
import type { BucketOrder } from '../spec.ts'
import { compareKeys } from './key-order.ts'

export type Below = ReadonlyMap<string, Collector>

const NOTHING_BELOW: Below = new Map()

export const NO_BELOW = (): Below => NOTHING_BELOW

/** Memory of a bucket, bytes, about. */
const BUCKET_BYTES = 120

export function spendBuckets(budget: BucketBudget, count: number): void {
  budget.used += count
  if (budget.used <= MAX_BUCKETS) return
  throw tooManyBuckets(budget.used)
}

export class BucketTable<K> {
  readonly keys: K[] = []
  readonly counts: number[] = []
  /** Made for the first match: a bucket of `filters` may have none, and more aggregations below it than there is memory for. */
  readonly #below: (Below | undefined)[] = []
  readonly #ordinals = new Map<K, number>()
  readonly #lastSeen: number[] = []
  readonly #newBelow: () => Below
  readonly #context: Pick<CollectContext, 'memory' | 'budget'>
  /** The results below a bucket without a match, and the buckets of the answer that they are. */
  #empty: { readonly results: Record<string, unknown>; readonly buckets: number } | undefined
  /** The number of the match that is put into buckets, among all. */
  #seen = 1
  /** Collectors without a match, as buckets have that fill gaps; made for the first comparison. */
  #gapBelow: Below | undefined
  /** The path of the order that buckets were compared by last. */
  #lastPath: (OrderPath & { readonly text: string }) | undefined

  constructor(newBelow: () => Below, context: Pick<CollectContext, 'memory' | 'budget'>) {
    this.#newBelow = newBelow
    this.#context = context
  }

  /** Number of a bucket, made where new. */
  ordinal(key: K): number {
    const known = this.#ordinals.get(key)
    if (known !== undefined) return known
    this.#context.memory.charge(BUCKET_BYTES + (typeof key === 'string' ? 2 * key.length : 0), 'fewer buckets')
    const ordinal = this.keys.push(key) - 1
    this.#ordinals.set(key, ordinal)
    this.counts.push(0)
    this.#lastSeen.push(0)
    return ordinal
  }

  find(key: K): number | undefined {
    return this.#ordinals.get(key)
  }

  below(ordinal: number): Below {
    if (this.#newBelow === NO_BELOW) return NOTHING_BELOW
    this.#below[ordinal] ??= this.#newBelow()
    return this.#below[ordinal]
  }

  /** `assign` puts each of `places` into buckets: once into each, however often it says so, or with `countsAgain` as often. */
  collect(
    view: MatchView,
    places: Uint32Array | undefined,
    assign: (place: number, put: (ordinal: number) => void) => void,
    countsAgain = false,
  ): void {
    const { weights } = view
    const count = places === undefined ? view.size : places.length
    const lists = this.#newBelow === NO_BELOW ? undefined : new BucketLists(count, this.#context.memory)
    let place = 0
    let seen = this.#seen
    const put = (ordinal: number): void => {
      if (!countsAgain && this.#lastSeen[ordinal] === seen) return
      this.#lastSeen[ordinal] = seen
      this.counts[ordinal]! += weights === undefined ? 1 : weights[place]!
      lists?.add(ordinal, place)
    }
    for (let at = 0; at < count; at++) {
      place = places === undefined ? at : places[at]!
      assign(place, put)
      seen++
    }
    this.#seen = seen
    lists?.each(this.keys.length, (ordinal, own) => {
      for (const collector of this.below(ordinal).values()) collector.collect(view, own)
    })
    lists?.end()
  }

  /** The results of the aggregations below a bucket; `undefined` is one that fills a gap. */
  belowResults(ordinal: number | undefined): Record<string, unknown> {
    const below = ordinal === undefined ? undefined : this.#below[ordinal]
    return below === undefined ? this.#emptyResults(ordinal === undefined) : resultsOf(below)
  }

  /** Worked out once for all buckets without a match: a table has either gaps or buckets of its own that stay empty. */
  #emptyResults(isGap: boolean): Record<string, unknown> {
    const { budget } = this.#context
    if (this.#empty === undefined) {
      const before = budget.used
      const results = resultsOf(this.#newBelow(), isGap)
      this.#empty = { results, buckets: budget.used - before }
    } else spendBuckets(budget, this.#empty.buckets)
    return this.#empty.results
  }

  /** Compares two buckets by one order; `undefined` is one that fills a gap, and has no key here. */
  compare(a: number | undefined, b: number | undefined, order: BucketOrder): number {
    const sign = order.isAscending ? 1 : -1
    if (order.path === '_count') return sign * (this.#countOf(a) - this.#countOf(b))
    if (order.path === '_key' || order.path === '_term' || order.path === '_time') return sign * compareKeys(this.keys[a!], this.keys[b!])
    if (this.#lastPath?.text !== order.path) this.#lastPath = { text: order.path, ...orderPath(order.path) }
    const { names, metric } = this.#lastPath
    const metricOf = (ordinal: number | undefined): number => {
      const own = ordinal === undefined ? this.#gap() : this.below(ordinal)
      const at = names.slice(0, -1).reduce<Below | undefined>((below, name) => below?.get(name)?.below?.(), own)
      return at?.get(names.at(-1)!)?.orderValue?.(metric) ?? Number.NaN
    }
    const first = metricOf(a)
    const second = metricOf(b)
    // Buckets without a value come last in both directions.
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second))
    return sign * (first - second)
  }

  #countOf(ordinal: number | undefined): number {
    return ordinal === undefined ? 0 : this.counts[ordinal]!
  }

  #gap(): Below {
    this.#gapBelow ??= this.#newBelow()
    return this.#gapBelow
  }
}

const resultsOf = (below: Below, isGap = false): Record<string, unknown> =>
  Object.fromEntries(
    [...below].map(([name, collector]) => [name, isGap && collector.gapResult ? collector.gapResult() : collector.result()]),
  )

/** A power of two above the number of places. */
const PLACE_SPAN = 2 ** 31

/** Memory of a place in a bucket's list, bytes, while the lists are sorted. */
const LISTED_BYTES = 12

/** Places by bucket. */
class BucketLists {
  readonly #memory: QueryMemory
  #ordinals: Uint32Array<ArrayBuffer>
  #places: Uint32Array<ArrayBuffer>
  #length = 0
  /** One entry for each place is small; places of many values bring more. */
  #chargedBytes = 0

  constructor(capacity: number, memory: QueryMemory) {
    this.#memory = memory
    this.#ordinals = new Uint32Array(Math.max(16, capacity))
    this.#places = new Uint32Array(Math.max(16, capacity))
  }

  add(ordinal: number, place: number): void {
    if (this.#length === this.#ordinals.length) this.#grow()
    this.#ordinals[this.#length] = ordinal
    this.#places[this.#length++] = place
  }

  #grow(): void {
    const bytes = LISTED_BYTES * this.#length
    this.#memory.charge(bytes, 'fewer values of one document, or no aggregations below them')
    this.#chargedBytes += bytes
    this.#ordinals = grown(this.#ordinals)
    this.#places = grown(this.#places)
  }

  end(): void {
    this.#memory.giveBack(this.#chargedBytes)
  }

  /** Calls `visit` with the places of each bucket that has some, in ascending order. */
  each(buckets: number, visit: (ordinal: number, places: Uint32Array) => void): void {
    if (buckets > this.#length) this.#eachOfFew(visit)
    else this.#eachOfMany(buckets, visit)
  }

  /** Few places in many buckets: sorted by comparison. */
  #eachOfFew(visit: (ordinal: number, places: Uint32Array) => void): void {
    const order = new Float64Array(this.#length)
    for (let at = 0; at < this.#length; at++) order[at] = this.#ordinals[at]! * PLACE_SPAN + at
    order.sort()
    const sorted = new Uint32Array(this.#length)
    for (let at = 0; at < order.length; at++) sorted[at] = this.#places[order[at]! % PLACE_SPAN]!
    for (let start = 0; start < order.length; ) {
      const ordinal = Math.floor(order[start]! / PLACE_SPAN)
      let end = start + 1
      while (end < order.length && order[end]! < (ordinal + 1) * PLACE_SPAN) end++
      visit(ordinal, sorted.subarray(start, end))
      start = end
    }
  }

  #eachOfMany(buckets: number, visit: (ordinal: number, places: Uint32Array) => void): void {
    const ends = new Uint32Array(buckets + 1)
    for (let at = 0; at < this.#length; at++) ends[this.#ordinals[at]! + 1]!++
    for (let ordinal = 0; ordinal < buckets; ordinal++) ends[ordinal + 1]! += ends[ordinal]!
    const starts = ends.slice()
    const sorted = new Uint32Array(this.#length)
    for (let at = 0; at < this.#length; at++) sorted[ends[this.#ordinals[at]!]!++] = this.#places[at]!
    for (let ordinal = 0; ordinal < buckets; ordinal++)
      if (starts[ordinal + 1]! > starts[ordinal]!) visit(ordinal, sorted.subarray(starts[ordinal]!, starts[ordinal + 1]!))
  }
}
