/** One run of a search over the segments of its indices: aggregates all matches, or looks for the first hits and counts as far as asked. */
import type { Clock } from '../../../ports/clock.ts'
import type { Collector } from '../../aggregate/aggregation-collector.ts'
import type { MatchView } from '../../aggregate/match-view.ts'
import type { SpecOf } from '../../aggregate/spec.ts'
import { isAlias } from '../bind/field.ts'
import type { Pace, QueryTurns } from '../budget/pace.ts'
import type { QueryMemory } from '../budget/query-memory.ts'
import { NOT_COUNTED, type SearchRequest } from '../parse/search-request.ts'
import { countDocs, firstDocs } from '../plan/doc-set.ts'
import { verifier } from '../plan/verifier.ts'
import { countsView, fitsCounts } from './counts-view.ts'
import { type Grouping, type Groups, groupingOf, groupMatches } from './group-matches.ts'
import { GroupsView } from './groups-view.ts'
import { docsBehind, type HitPlace, isBehindAll, isPassed } from './hit-place.ts'
import { type KeptGroups, keptGroups, keptMatches } from './kept-matches.ts'
import { knownGroups } from './known-groups.ts'
import { giveListBack, lendList } from './lent-lists.ts'
import { canMerge, MergedGroups } from './merged-groups.ts'
import type { ShardFailure } from './search-target.ts'
import type { BoundIndex, SegmentUnit } from './segment-unit.ts'
import { type RankedDocument, TopDocuments } from './top-documents.ts'
import { needsOf } from './view-needs.ts'
import { liveDocs, planMatches, type SegmentView, scorerOf, type ViewNeeds, walkSegment } from './walk-segment.ts'

export interface SearchOutcome {
  readonly hits: readonly RankedDocument[]
  /** Undefined: not counted. */
  readonly total: { readonly value: number; readonly relation: 'eq' | 'gte' } | undefined
  /** Undefined when hits are sorted otherwise. */
  readonly maxScore: number | undefined
  readonly aggregations: Record<string, unknown> | undefined
  readonly timedOut: boolean
  /** Whether matches were left out for `terminate_after`; undefined where the search has none. */
  readonly terminatedEarly: boolean | undefined
  readonly failures: readonly ShardFailure[]
  /** A pace for showing the hits. */
  newPace(): Pace
}

export interface ExecuteContext {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly turns?: QueryTurns
  /** Time that the query still has, ms. */
  leftMs(): number
  /** Charged as the answer grows; the caller releases it. */
  readonly memory: QueryMemory
  /** Hits up to here are left out, and not counted for certain. */
  readonly behind?: HitPlace | undefined
  showTopHit(document: RankedDocument, spec: SpecOf<'top_hits'>): Record<string, unknown>
}

const NO_SCORE = (): number => 0

/** Matches that an aggregation gets first, of the first segment and of each later one at most, and how long it may work on each later portion, ms, about. */
const FIRST_PLACES = 16
const MAX_FIRST_PLACES = 4_096
const MAX_COLLECT_MS = 8

interface Aggregation {
  readonly name: string
  readonly collector: Collector
  readonly grouping: Grouping | undefined
  /** Groups that wait for those of other segments; undefined where each segment's are collected by themselves. */
  readonly merged: MergedGroups | undefined
}

/** One run of a search over segments. */
export class Search {
  readonly #request: SearchRequest
  readonly #units: readonly SegmentUnit[]
  readonly #memory: QueryMemory
  readonly #behind: HitPlace | undefined
  readonly #needs: ViewNeeds
  readonly #pace: Pace
  readonly #top: TopDocuments
  readonly #aggregations: readonly Aggregation[]
  readonly #groupings: readonly (Grouping | undefined)[]
  readonly #fitsCounts: boolean
  /** Matches that each index may still add. */
  readonly #left = new Map<BoundIndex, number>()
  /** Matches that each aggregation worked off in time at once. */
  readonly #portions = new Map<Collector, number>()
  #isTerminatedEarly = false
  #total = 0
  #maxScore = Number.NEGATIVE_INFINITY

  constructor(
    request: SearchRequest,
    units: readonly SegmentUnit[],
    context: ExecuteContext,
    nowMs: number,
    pace: Pace,
    collectors: ReadonlyMap<string, Collector>,
  ) {
    this.#request = request
    this.#units = units
    this.#memory = context.memory
    this.#behind = context.behind
    this.#needs = { ...needsOf(request.aggregations, nowMs), memory: context.memory }
    this.#pace = pace
    this.#top = new TopDocuments({
      limit: request.from + request.size,
      sort: request.sort,
      memory: context.memory,
      behind: context.behind,
      ...(request.searchAfter && { searchAfter: request.searchAfter }),
    })
    const groupings = new Map(request.aggregations.map(spec => [spec.name, groupingOf(spec)]))
    this.#aggregations = [...collectors].map(([name, collector]) => {
      const grouping = groupings.get(name)
      return { name, collector, grouping, merged: grouping && canMerge(grouping) ? new MergedGroups(grouping, context.memory) : undefined }
    })
    this.#groupings = this.#aggregations.map(({ grouping }) => grouping)
    this.#fitsCounts = fitsCounts(request.aggregations)
  }

  async run(): Promise<void> {
    await this.#runUnits()
    for (const { collector, merged } of this.#aggregations) {
      for (const view of merged?.rest() ?? []) {
        // Groups that were found in time count in, also where it is over since.
        if (this.#pace.isTimedOut) collector.collect(view, undefined)
        else await this.#collect(collector, view)
      }
    }
  }

  async #runUnits(): Promise<void> {
    for (const unit of this.#inPromisingOrder()) {
      await this.#pace.step()
      if (this.#pace.isTimedOut) return
      if (this.#request.aggregations.length > 0 || this.#isLimited) await this.#aggregate(unit)
      else await this.#seek(unit)
    }
  }

  outcome(): Omit<SearchOutcome, 'failures' | 'newPace'> {
    const hits = this.#top.ranked().slice(this.#request.from)
    const { trackTotalHits } = this.#request
    const isOver = this.#total > trackTotalHits
    return {
      hits,
      total:
        trackTotalHits === NOT_COUNTED
          ? undefined
          : { value: isOver ? trackTotalHits : this.#total, relation: isOver || this.#pace.isTimedOut ? 'gte' : 'eq' },
      maxScore: this.#isScored && this.#maxScore > Number.NEGATIVE_INFINITY ? this.#maxScore : undefined,
      aggregations:
        this.#aggregations.length === 0
          ? undefined
          : Object.fromEntries(this.#aggregations.map(({ name, collector }) => [name, collector.result()])),
      timedOut: this.#pace.isTimedOut,
      terminatedEarly: this.#isLimited ? this.#isTerminatedEarly : undefined,
    }
  }

  get #isScored(): boolean {
    const { sort, trackScores } = this.#request
    return sort.length === 0 || trackScores || sort.some(spec => spec.field === '_score')
  }

  get #isLimited(): boolean {
    return this.#request.terminateAfter !== undefined
  }

  /** Whether nothing of the unit counts any more. */
  #isEnded(unit: SegmentUnit): boolean {
    return this.#isTerminatedEarly && this.#left.get(unit.bound) === 0
  }

  /** Keeps as many matches as the index of the unit may still add. */
  #limit(unit: SegmentUnit, view: SegmentView): void {
    const { terminateAfter } = this.#request
    if (terminateAfter === undefined) return
    const left = this.#left.get(unit.bound) ?? terminateAfter
    if (view.size > left) {
      this.#isTerminatedEarly = true
      view.docs = view.docs.subarray(0, left)
    }
    this.#left.set(unit.bound, left - view.size)
  }

  /** Segments with the likeliest first hits come first, so that the others can be passed over. */
  #inPromisingOrder(): readonly SegmentUnit[] {
    const first = this.#request.sort[0] ?? this.#aggregations.find(({ grouping }) => grouping?.best !== undefined)?.grouping?.best
    if (first?.field !== 'timestamp') return this.#units
    const key = (unit: SegmentUnit): number => {
      const bound = first.order === 'desc' ? -unit.segment.maxTimestampMs : unit.segment.minTimestampMs
      return Number.isNaN(bound) ? Number.POSITIVE_INFINITY : bound
    }
    return this.#units
      .map(unit => ({ unit, key: key(unit) }))
      .sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
      .map(({ unit }) => unit)
  }

  /** Aggregates all matches of a segment, or the groups or counts that were kept of them. */
  async #aggregate(unit: SegmentUnit): Promise<void> {
    if (this.#isEnded(unit)) return
    const { mapping } = unit.bound
    const hasAliases = this.#needs.fields.some(path => isAlias(mapping, path))
    const isForCounts = this.#request.from + this.#request.size === 0 && !hasAliases && !this.#isLimited
    const known = isForCounts ? knownGroups(unit, this.#groupings) : []
    if (known.length > 0 && known.every(each => each !== undefined)) return this.#aggregateKnown(unit, known)
    if (isForCounts && this.#aggregateCounts(unit)) return
    const room = lendList(unit.segment.size)
    try {
      await this.#aggregateMatches(unit, hasAliases, room, known)
    } finally {
      giveListBack(room)
    }
  }

  /** `known`: groups by aggregation, where they are known without the matches. */
  async #aggregateMatches(
    unit: SegmentUnit,
    hasAliases: boolean,
    room: Uint32Array | undefined,
    known: readonly (KeptGroups | undefined)[],
  ): Promise<void> {
    const heldBefore = this.#memory.usedBytes
    const view = await walkSegment(unit, this.#needs, this.#pace, room)
    if (view === undefined) return
    const valueBytes = this.#memory.usedBytes - heldBefore
    this.#limit(unit, view)
    this.#total += view.size
    const kept = hasAliases || this.#isLimited ? undefined : keptGroups(unit)
    if (view.size === 0 && kept === undefined) return
    for (const [at, aggregation] of this.#aggregations.entries()) {
      const { grouping } = aggregation
      let groups = known[at]?.groups
      if (groups === undefined && grouping !== undefined && !hasAliases) {
        groups = groupMatches(unit, view.docs, grouping, kept !== undefined)
        kept?.put(grouping, view.size, groups)
      }
      if (this.#pace.isDue() && !(await this.#pace.step())) return
      if (!(await (groups === undefined ? this.#collect(aggregation.collector, view) : this.#collectGroups(aggregation, unit, groups))))
        return
    }
    await this.#rankAll(unit, view)
    this.#memory.giveBack(valueBytes)
  }

  #aggregateCounts(unit: SegmentUnit): boolean {
    const counts = this.#fitsCounts ? countsView(unit, this.#needs.filters, this.#needs.nowMs) : undefined
    if (counts === undefined) return false
    this.#total += counts.documentCount
    for (const { collector } of this.#aggregations) collector.collect(counts, undefined)
    return true
  }

  async #aggregateKnown(unit: SegmentUnit, known: readonly KeptGroups[]): Promise<void> {
    this.#total += known[0]!.matches
    for (const [at, aggregation] of this.#aggregations.entries())
      if (!(await this.#collectGroups(aggregation, unit, known[at]!.groups))) return
  }

  /** False when the query's time is over. */
  async #collectGroups({ collector, merged }: Aggregation, unit: SegmentUnit, groups: Groups): Promise<boolean> {
    const views = merged === undefined ? [new GroupsView(unit, groups)] : merged.add(unit, groups)
    for (const view of views) if (!(await this.#collect(collector, view))) return false
    return true
  }

  /** As many matches at a time as take a part of a turn. False when the query's time is over. */
  async #collect(collector: Collector, view: MatchView): Promise<boolean> {
    const places = firstDocs(view.size)
    let count = Math.min(this.#portions.get(collector) ?? FIRST_PLACES, MAX_FIRST_PLACES)
    for (let at = 0; at < places.length; ) {
      const start = performance.now()
      const some = places.subarray(at, at + count)
      if (this.#pace.run(() => collector.collect(view, some) ?? true) === undefined) return false
      at += some.length
      const tookMs = performance.now() - start
      if (tookMs > MAX_COLLECT_MS) count = Math.max(1, count >> 2)
      else if (tookMs < MAX_COLLECT_MS / 4) count *= 4
      this.#portions.set(collector, count)
      if (this.#pace.isDue() && !(await this.#pace.step())) return false
    }
    return true
  }

  async #rankAll(unit: SegmentUnit, view: SegmentView): Promise<void> {
    if (this.#request.from + this.#request.size === 0) return
    this.#top.enter(unit)
    await this.#rankDocs(unit, view.docs, this.#isScored ? doc => view.scoreOf(doc) : NO_SCORE)
  }

  /** Whether the hits so far are as good as any of the unit that are still to come. */
  #isDoneWith(unit: SegmentUnit): boolean {
    return this.#top.isFull && isBehindAll(this.#request, unit, this.#top.threshold)
  }

  async #rankDocs(unit: SegmentUnit, docs: Uint32Array, score: (doc: number) => number): Promise<void> {
    const isReversed = this.#request.sort[0]?.order === 'desc'
    for (let step = 0; step < docs.length; step++) {
      step = this.#top.nextPromising(docs, step, isReversed)
      if (step === docs.length || this.#isDoneWith(unit)) return
      const doc = docs[isReversed ? docs.length - 1 - step : step]!
      if (this.#pace.isDueSoon() && !(await this.#pace.step())) return
      this.#rank(doc, score(doc))
    }
  }

  #rank(doc: number, score: number): void {
    if (score > this.#maxScore) this.#maxScore = score
    const candidate = this.#top.rank(doc, score)
    if (candidate !== undefined) this.#top.keep(candidate)
  }

  /** Totals beyond this need no exact count. */
  get #isCounted(): boolean {
    return this.#total > this.#request.trackTotalHits
  }

  /** Finds the hits and counts as far as asked, reading as few documents as that takes. */
  async #seek(unit: SegmentUnit): Promise<void> {
    const { segment } = unit
    const wantsHits = this.#request.from + this.#request.size > 0
    if (this.#isCounted && (!wantsHits || !this.#mayHoldHits(unit))) return
    const plan = await planMatches(unit, this.#pace)
    if (plan === undefined) return
    if (!wantsHits && plan.residual === undefined && segment.liveCount === segment.size) {
      this.#total += countDocs(plan.candidates, segment.size)
      return
    }
    const live = liveDocs(plan, segment)
    // Hits before that place were counted with the first page.
    const docs = docsBehind(this.#behind, this.#request, unit, live)
    if (docs.length === 0) return
    if (plan.residual === undefined) {
      this.#total += docs.length
      if (!wantsHits || !this.#mayHoldHits(unit)) return
      this.#top.enter(unit)
      await this.#rankDocs(unit, docs, this.#isScored ? scorerOf(unit) : NO_SCORE)
      return
    }
    if (wantsHits) this.#top.enter(unit)
    await this.#verifyDocs(unit, docs, verifier(plan.residual, segment), wantsHits)
  }

  /** Candidates that must be looked at one by one: newest first, no further than hits and total need. */
  async #verifyDocs(unit: SegmentUnit, docs: Uint32Array, verify: (doc: number) => boolean, wantsHits: boolean): Promise<void> {
    const score = this.#isScored ? scorerOf(unit) : NO_SCORE
    const isReversed = this.#request.sort[0]?.order === 'desc'
    const matched = new Uint32Array(docs.length)
    let count = 0
    // A later page of a scroll looks at the documents behind the last one.
    let isWhole = this.#behind === undefined
    for (let step = 0; step < docs.length; step++) {
      if (this.#pace.isDueSoon() && !(await this.#pace.step())) return
      if (this.#isCounted) {
        if (this.#isDoneWith(unit)) return
        const next = wantsHits ? this.#top.nextPromising(docs, step, isReversed) : docs.length
        if (next > step) isWhole = false
        if (next === docs.length) break
        step = next
      }
      const doc = docs[isReversed ? docs.length - 1 - step : step]!
      const isPromising = wantsHits && this.#top.isPromising(doc)
      const isMatch = this.#pace.run(() => verify(doc))
      if (isMatch === undefined) return
      if (!isMatch) continue
      matched[count++] = doc
      this.#total++
      if (isPromising) this.#rank(doc, score(doc))
    }
    const found = matched.subarray(0, count)
    if (isWhole) keptMatches(unit)?.put(isReversed ? found.reverse() : found)
  }

  #mayHoldHits(unit: SegmentUnit): boolean {
    if (this.#behind !== undefined && isPassed(this.#behind, this.#request, unit)) return false
    if (this.#isDoneWith(unit)) return false
    const first = this.#request.sort[0]
    if (first?.field !== 'timestamp' || first.missing === '_first' || isAlias(unit.bound.mapping, first.field)) return true
    return this.#top.mayHold(unit.segment.minTimestampMs, unit.segment.maxTimestampMs)
  }
}
