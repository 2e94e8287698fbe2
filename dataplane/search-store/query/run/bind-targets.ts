/** The segments that a search walks. */
import { checkFields } from '../../aggregate/field-values.ts'
import { damagedError, NO_SHARD, unavailable } from '../../catalog/unavailable-storage.ts'
import { EMPTY_SEGMENT } from '../../storage/empty-segment.ts'
import { bindQuery } from '../bind/bind.ts'
import { allOf, unscored } from '../bind/condition.ts'
import { findField } from '../bind/field.ts'
import type { Pace } from '../budget/pace.ts'
import type { Query } from '../parse/query.ts'
import type { SearchRequest } from '../parse/search-request.ts'
import { partialFailure, type SearchTarget, type ShardFailure, shardFailure } from './search-target.ts'
import type { BoundIndex, SegmentUnit } from './segment-unit.ts'
import { refuseTextField } from './sort-values.ts'
import { TopDocuments } from './top-documents.ts'

/** An index with the query bound to its fields. */
export interface BoundTarget {
  readonly bound: BoundIndex
  readonly target: SearchTarget
}

/** Binds the query to each index; those that cannot run it are failures, and those that lack a part are both. */
export async function bindTargets(
  targets: readonly SearchTarget[],
  query: Query,
  nowMs: number,
  pace: Pace,
): Promise<{ bound: readonly BoundTarget[]; failures: readonly ShardFailure[] }> {
  const bound: BoundTarget[] = []
  const failures: ShardFailure[] = []
  for (const target of targets) {
    if (pace.isDue()) await pace.step()
    const { name: index, mapping } = target.storage
    try {
      if (target.storage.problem !== undefined) throw unavailable(target.storage, NO_SHARD)
      const partial = partialFailureOf(target)
      const bind = { index, mapping, nowMs }
      const own = bindQuery(query, bind)
      const condition = target.filter === undefined ? own : allOf([own, unscored(bindQuery(target.filter, bind))])
      bound.push({ bound: { index, mapping, condition, query: own }, target })
      if (partial !== undefined) failures.push(partial)
    } catch (error) {
      failures.push(shardFailure(error, target.storage))
    }
  }
  return { bound, failures }
}

/** Throws where nothing of the index is left. */
function partialFailureOf({ storage }: SearchTarget): ShardFailure | undefined {
  const [damage] = storage.damage ?? []
  if (damage === undefined) return undefined
  const error = damagedError(damage.text)
  if (storage.segments().every(segment => segment === EMPTY_SEGMENT)) throw error
  return partialFailure(error, storage)
}

/** A snapshot of the segments, indices in order. A damaged segment keeps its ordinal, by which pages go on. */
export function unitsOf(bound: readonly BoundTarget[]): readonly SegmentUnit[] {
  let ordinal = 0
  const all = bound.flatMap(({ bound: index, target }) =>
    target.storage.segments().map(segment => ({ ordinal: ordinal++, bound: index, segment })),
  )
  return all.filter(({ segment }) => segment !== EMPTY_SEGMENT)
}

export interface OpenUnits {
  readonly units: readonly SegmentUnit[]
  /** The same segments, each with what a hit has to fulfil; `units` themselves where that is the query. */
  readonly hitUnits: readonly SegmentUnit[]
  readonly failures: readonly ShardFailure[]
}

/** Like `bindTargets`, leaving out indices that cannot be sorted or aggregated as asked. */
export async function openUnits(targets: readonly SearchTarget[], request: SearchRequest, nowMs: number, pace: Pace): Promise<OpenUnits> {
  const { bound, failures } = await bindTargets(targets, request.query, nowMs, pace)
  const usable: BoundTarget[] = []
  const narrowed = new Map<BoundIndex, BoundIndex>()
  const more: ShardFailure[] = []
  for (const each of bound) {
    if (pace.isDue()) await pace.step()
    try {
      checkSort(request, each.bound)
      checkDocValues(request, each.bound)
      const { index, mapping } = each.bound
      checkFields(request.aggregations, {
        field: path => findField(mapping, path),
        bind: query => bindQuery(query, { index, mapping, nowMs }),
      })
      if (request.postFilter !== undefined) {
        const filter = unscored(bindQuery(request.postFilter, { index, mapping, nowMs }))
        narrowed.set(each.bound, { ...each.bound, condition: allOf([each.bound.condition, filter]) })
      }
      usable.push(each)
    } catch (error) {
      more.push(shardFailure(error, each.target.storage))
    }
  }
  const units = unitsOf(usable)
  const hitUnits = request.postFilter === undefined ? units : units.map(unit => ({ ...unit, bound: narrowed.get(unit.bound)! }))
  return { units, hitUnits, failures: [...failures, ...more] }
}

/** Text has no values beside the document. */
function checkDocValues({ fields }: SearchRequest, { mapping }: BoundIndex): void {
  for (const { isDocValue, names, pattern } of fields) {
    const field = isDocValue && names === undefined ? findField(mapping, pattern) : undefined
    if (field !== undefined) refuseTextField(field)
  }
}

/** Sorting is refused for an index as a whole, also where it has no documents yet. */
function checkSort(request: SearchRequest, bound: BoundIndex): void {
  new TopDocuments({ limit: 0, sort: request.sort, ...(request.searchAfter && { searchAfter: request.searchAfter }) }).enter({
    ordinal: 0,
    bound,
    segment: EMPTY_SEGMENT,
  })
}
