/** An aggregation as the client asked for it, checked for form. */
import type { CalendarUnit } from '../dates/calendar.ts'
import type { DateFormat } from '../dates/date-format.ts'
import type { TimeZone } from '../dates/time-zone.ts'
import type { Query, Scalar } from '../query/parse/query.ts'
import type { SortSpec } from '../query/parse/sort-spec.ts'
import type { SourceFilter } from '../query/show/source-filter.ts'

/** `path` is `_count`, `_key`, or the name of a metric below, with `.max` and the like for one that has several values. */
export interface BucketOrder {
  readonly path: string
  readonly isAscending: boolean
}

export interface NumberBounds {
  readonly min: number
  readonly max: number
}

/** As written; dates may be date math. */
export interface BoundsSpec {
  readonly min?: Scalar
  readonly max?: Scalar
}

export interface RangeSpec {
  readonly key?: string
  readonly from?: Scalar
  readonly to?: Scalar
}

interface HistogramOptions {
  readonly field: string
  readonly minDocCount: number
  readonly order: BucketOrder
  readonly keyed: boolean
  readonly missing?: Scalar
}

export type BucketSpec =
  | {
      readonly type: 'terms'
      readonly field: string
      readonly size: number
      readonly order: readonly BucketOrder[]
      readonly minDocCount: number
      readonly missing?: Scalar
      readonly include?: ReadonlySet<string>
      readonly exclude?: ReadonlySet<string>
    }
  | (HistogramOptions & {
      readonly type: 'date_histogram'
      readonly interval: { readonly ms: number } | { readonly unit: CalendarUnit }
      readonly zone: TimeZone
      readonly offsetMs: number
      readonly format: DateFormat
      readonly extendedBounds?: BoundsSpec
      readonly hardBounds?: BoundsSpec
    })
  | (HistogramOptions & {
      readonly type: 'histogram'
      readonly interval: number
      readonly offset: number
      readonly extendedBounds?: NumberBounds
    })
  | {
      readonly type: 'range' | 'date_range'
      readonly field: string
      readonly ranges: readonly RangeSpec[]
      readonly keyed: boolean
      readonly format?: DateFormat
    }
  | {
      readonly type: 'filters'
      readonly filters: readonly { readonly key: string | undefined; readonly query: Query }[]
      /** Key of the bucket for everything else. */
      readonly otherKey?: string
    }
  | { readonly type: 'filter'; readonly query: Query }
  | { readonly type: 'missing'; readonly field: string }

export type SimpleMetric = 'min' | 'max' | 'avg' | 'sum' | 'value_count' | 'stats'

export type MetricSpec =
  | { readonly type: SimpleMetric; readonly field: string; readonly missing?: Scalar }
  | {
      readonly type: 'percentiles'
      readonly field: string
      readonly percents: readonly number[]
      readonly keyed: boolean
      readonly missing?: Scalar
    }
  | { readonly type: 'cardinality'; readonly field: string; readonly missing?: Scalar }
  | {
      readonly type: 'top_hits'
      readonly from: number
      readonly size: number
      readonly sort: readonly SortSpec[]
      readonly source: SourceFilter
    }

export type AggregationSpec = { readonly name: string; readonly below: readonly AggregationSpec[] } & (BucketSpec | MetricSpec)

export type SpecOf<T extends AggregationSpec['type']> = Extract<AggregationSpec, { type: T }>
