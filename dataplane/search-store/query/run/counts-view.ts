/** Answers aggregations from the counts kept at insert, where a segment's matches are whole minutes of whole services. */
import type { KeywordReader, MatchView, NumberReader } from '../../aggregate/match-view.ts'
import type { AggregationSpec } from '../../aggregate/spec.ts'
import type { MinuteCount } from '../../storage/index-storage.ts'
import { bindQuery } from '../bind/bind.ts'
import type { Condition } from '../bind/condition.ts'
import { type Field, findField } from '../bind/field.ts'
import type { Query } from '../parse/query.ts'
import { reduceForSegment } from '../plan/plan.ts'
import { type RowTest, rowTest } from './row-test.ts'
import type { SegmentUnit } from './segment-unit.ts'

const MINUTE_MS = 60_000

/** With fewer, walking columns is as quick. */
const MIN_DOCUMENTS_PER_COUNT = 4

const KEYWORD_OF: Readonly<Record<string, (count: MinuteCount) => string>> = {
  tenant_id: count => count.tenant,
  service: count => count.service,
  level: count => count.level,
}

/** Whether counts by minute, tenant, service and level hold all that the aggregations ask. */
export function fitsCounts(specs: readonly AggregationSpec[]): boolean {
  return specs.every(spec => {
    switch (spec.type) {
      case 'date_histogram':
        return spec.field === 'timestamp' && spec.hardBounds === undefined && hasWholeMinutes(spec) && fitsCounts(spec.below)
      case 'terms':
        return Object.hasOwn(KEYWORD_OF, spec.field) && fitsCounts(spec.below)
      case 'filter':
      case 'filters':
        return fitsCounts(spec.below)
      case 'value_count':
      case 'cardinality':
        return Object.hasOwn(KEYWORD_OF, spec.field)
      default:
        return false
    }
  })
}

function hasWholeMinutes({ interval, zone, offsetMs }: Extract<AggregationSpec, { type: 'date_histogram' }>): boolean {
  const isWhole = (ms: number): boolean => ms % MINUTE_MS === 0
  if (!isWhole(offsetMs) || (zone.fixedOffsetMs !== undefined && !isWhole(zone.fixedOffsetMs))) return false
  return 'unit' in interval ? interval.unit !== 'second' : isWhole(interval.ms)
}

/** The segment's counts under its condition; undefined where they cannot tell. */
export function countsView(unit: SegmentUnit, filters: readonly Query[], nowMs: number): CountsView | undefined {
  const test = testOnCounts(reduceForSegment(unit.bound.condition, unit.segment))
  if (test === undefined) return undefined
  const counts = unit.segment.counts()
  if (counts === undefined) return undefined
  if (counts.length * MIN_DOCUMENTS_PER_COUNT > unit.segment.size) return undefined
  const { index, mapping } = unit.bound
  const tests = new Map<Query, CountTest>()
  for (const query of filters) {
    const own = testOnCounts(reduceForSegment(bindQuery(query, { index, mapping, nowMs }), unit.segment))
    if (own === undefined) return undefined
    tests.set(query, own)
  }
  return new CountsView(unit, counts.filter(test), tests)
}

type CountTest = RowTest<MinuteCount>

const testOnCounts = (condition: Condition): CountTest | undefined =>
  rowTest(condition, leaf => {
    if (leaf.op === 'range') return testOnMinute(leaf)
    return leaf.op === 'terms' || leaf.op === 'pattern' ? testOnKeyword(leaf) : undefined
  })

function testOnKeyword(condition: Extract<Condition, { op: 'terms' | 'pattern' }>): CountTest | undefined {
  const { path, type } = condition.field
  if (type !== 'keyword' || !Object.hasOwn(KEYWORD_OF, path)) return undefined
  const read = KEYWORD_OF[path]!
  // An empty text stands for "no value" here.
  if (condition.op === 'terms') return condition.terms.has('') ? undefined : count => condition.terms.has(read(count))
  return condition.pattern.test('') ? undefined : count => condition.pattern.test(read(count))
}

/** Bounds must fall between minutes. */
function testOnMinute({ field, range }: Extract<Condition, { op: 'range' }>): CountTest | undefined {
  if (field.path !== 'timestamp') return undefined
  const first = range.includeMin ? range.min : range.min + 1
  const end = range.includeMax ? range.max + 1 : range.max
  const isOpenOrWhole = (ms: number): boolean => !Number.isFinite(ms) || ms % MINUTE_MS === 0
  if (!isOpenOrWhole(first) || !isOpenOrWhole(end)) return undefined
  return count => count.minuteMs >= first && count.minuteMs < end
}

/** Each count is a match that stands for many documents. */
class CountsView implements MatchView {
  readonly documents = undefined
  readonly weights: Float64Array
  readonly #unit: SegmentUnit
  readonly #counts: readonly MinuteCount[]
  readonly #tests: ReadonlyMap<Query, CountTest>

  constructor(unit: SegmentUnit, counts: readonly MinuteCount[], tests: ReadonlyMap<Query, CountTest>) {
    this.#unit = unit
    this.#counts = counts
    this.#tests = tests
    this.weights = Float64Array.from(counts, count => count.count)
  }

  get size(): number {
    return this.#counts.length
  }

  get documentCount(): number {
    return this.weights.reduce((sum, weight) => sum + weight, 0)
  }

  field(path: string): Field | undefined {
    return findField(this.#unit.bound.mapping, path)
  }

  numbers(): NumberReader {
    const minute = (place: number): number => this.#counts[place]!.minuteMs
    return { single: minute, each: (place, visit) => visit(minute(place)) }
  }

  keywords(field: Field): KeywordReader {
    const read = KEYWORD_OF[field.path]!
    return {
      coded: undefined,
      each: (place, visit) => {
        const text = read(this.#counts[place]!)
        if (text !== '') visit(text)
      },
    }
  }

  filter(query: Query): (place: number) => boolean {
    const test = this.#tests.get(query)!
    return place => test(this.#counts[place]!)
  }
}
