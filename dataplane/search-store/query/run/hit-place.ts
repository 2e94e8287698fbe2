/** Where a hit stands in the order of all hits: the next page of a scroll begins behind the last one of the page before. */
import { deserialize, serialize } from 'node:v8'
import { firstAtLeast } from '../../first-at-least.ts'
import { isAlias } from '../bind/field.ts'
import type { SearchRequest } from '../parse/search-request.ts'
import { isTimed } from '../plan/plan.ts'
import { constantScore } from './matches.ts'
import type { SegmentUnit } from './segment-unit.ts'
import type { SortValue } from './sort-values.ts'

export interface HitPlace {
  readonly values: readonly SortValue[]
  readonly ordinal: number
  readonly doc: number
}

/** Total and best score of a scroll, the same on all its pages, and the place of the last hit so far. */
export interface ScrollCursor {
  readonly place: HitPlace
  readonly total: number
  readonly maxScore: number | undefined
}

export const encodeCursor = (cursor: ScrollCursor): string => serialize(cursor).toString('base64')
/** Only for what `encodeCursor` made. */
export const decodeCursor = (text: string): ScrollCursor => deserialize(Buffer.from(text, 'base64')) as ScrollCursor

/** The score that orders nothing among hits of the unit; undefined where scores, or anything but places, order them. */
function scoreOfAll({ sort }: SearchRequest, { bound }: SegmentUnit): number | undefined {
  if (sort.length > 0) return sort[0]!.field === '_doc' && sort[0]!.order === 'asc' ? 0 : undefined
  return constantScore(bound.condition)
}

/** Whether no further hit of the unit can come before the last one of a full page. */
export function isBehindAll(request: SearchRequest, unit: SegmentUnit, lastValue: SortValue): boolean {
  const score = scoreOfAll(request, unit)
  if (score === undefined) return false
  return request.sort.length > 0 || (typeof lastValue === 'number' && score <= lastValue)
}

/** The documents of the unit that may be behind the place. */
export function docsBehind(place: HitPlace | undefined, request: SearchRequest, unit: SegmentUnit, docs: Uint32Array): Uint32Array {
  if (place === undefined || isPassed(place, request, unit)) return place === undefined ? docs : NO_DOCS
  const isSame = unit.ordinal === place.ordinal && isAtScoreOf(place, request, unit)
  return isSame ? docs.subarray(firstAtLeast(docs, place.doc + 1)) : docs
}

const NO_DOCS = new Uint32Array(0)

function isAtScoreOf({ values }: HitPlace, request: SearchRequest, unit: SegmentUnit): boolean {
  const score = scoreOfAll(request, unit)
  return score !== undefined && (request.sort.length > 0 || score === values[0])
}

/** Whether all hits of the unit come before the place, as far as that is known without a look at them. */
export function isPassed(place: HitPlace, request: SearchRequest, unit: SegmentUnit): boolean {
  const { segment, ordinal } = unit
  const first = request.sort[0]
  const value = place.values[0]
  if (first?.field === 'timestamp' && typeof value === 'number' && isTimed(segment) && !isAlias(unit.bound.mapping, first.field))
    return first.order === 'desc' ? segment.minTimestampMs > value : segment.maxTimestampMs < value
  if (isAtScoreOf(place, request, unit)) return ordinal < place.ordinal
  const score = first === undefined ? scoreOfAll(request, unit) : undefined
  return score !== undefined && typeof value === 'number' && score > value
}
