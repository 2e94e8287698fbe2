/** Work on every match: counting and deleting. */
import type { Clock } from '../../../ports/clock.ts'
import { ApiError } from '../../api-error.ts'
import type { Segment } from '../../storage/index-storage.ts'
import { createPace, QUERY_BUDGET_MS, type QueryTurns } from '../budget/pace.ts'
import type { Query } from '../parse/query.ts'
import { reduceForSegment } from '../plan/plan.ts'
import { bindTargets, unitsOf } from './bind-targets.ts'
import { countsView } from './counts-view.ts'
import { allShardsFailed, type SearchTarget, type ShardFailure } from './search-target.ts'
import type { BoundIndex, SegmentUnit } from './segment-unit.ts'
import { walkSegment } from './walk-segment.ts'

const tookTooLong = (): ApiError =>
  new ApiError(503, 'search_phase_execution_exception', `the query took longer than ${QUERY_BUDGET_MS} ms`)

export interface MatchContext {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly turns?: QueryTurns
  /** Time that the query still has, ms. */
  leftMs(): number
}

export interface Counted {
  readonly count: number
  /** Whether an index has more matches than were to be counted. */
  readonly isMore: boolean
  readonly failures: readonly ShardFailure[]
}

/** Number of matches, of each index `most` at the most; the filter of an alias counts in. Throws 503 when it takes too long. */
export async function countMatches(
  targets: readonly SearchTarget[],
  query: Query,
  { clock, turns, leftMs }: MatchContext,
  most = Number.POSITIVE_INFINITY,
): Promise<Counted> {
  const nowMs = clock.nowMs()
  const pace = createPace(clock, leftMs(), turns)
  const { bound, failures } = await bindTargets(targets, query, nowMs, pace)
  const counts = new Map<BoundIndex, number>()
  const add = ({ bound: index }: SegmentUnit, more: number): void => {
    counts.set(index, (counts.get(index) ?? 0) + more)
  }
  for (const unit of unitsOf(bound)) {
    await pace.step()
    if (reduceForSegment(unit.bound.condition, unit.segment).op === 'all') {
      add(unit, unit.segment.liveCount)
      continue
    }
    const kept = countsView(unit, [], nowMs)
    if (kept !== undefined) {
      add(unit, kept.documentCount)
      continue
    }
    const view = await walkSegment(unit, { ...NO_NEEDS, nowMs }, pace)
    if (view === undefined) throw tookTooLong()
    add(unit, view.size)
  }
  const all = [...counts.values()]
  return { count: all.reduce((sum, own) => sum + Math.min(own, most), 0), isMore: all.some(own => own > most), failures }
}

const NO_NEEDS = { fields: [], filters: [] }

/** Matches of one segment. */
export interface MatchingDocuments {
  readonly storage: SearchTarget['storage']
  readonly segment: Segment
  readonly docs: Uint32Array
}

/** Every match. Throws 400 when an index cannot run the query, 503 when it takes too long: half a list would mislead. */
export async function matchingDocuments(
  targets: readonly SearchTarget[],
  query: Query,
  { clock, turns, leftMs }: MatchContext,
): Promise<readonly MatchingDocuments[]> {
  const nowMs = clock.nowMs()
  const pace = createPace(clock, leftMs(), turns)
  const { bound, failures } = await bindTargets(targets, query, nowMs, pace)
  if (failures.length > 0) throw allShardsFailed(failures)
  const found: MatchingDocuments[] = []
  const storages = new Map(bound.map(each => [each.bound, each.target.storage]))
  for (const unit of unitsOf(bound)) {
    const view = await walkSegment(unit, { ...NO_NEEDS, nowMs }, pace)
    if (view === undefined) throw tookTooLong()
    if (view.size > 0) found.push({ storage: storages.get(unit.bound)!, segment: unit.segment, docs: view.docs })
  }
  return found
}
