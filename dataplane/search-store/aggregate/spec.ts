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
  | {
      readonly type: 'composite'
      readonly sources: readonly CompositeSource[]
      readonly size: number
      /** One of each source: the page begins behind them. */
      readonly after?: readonly CompositeValue[]
    }
  | { readonly type: 'missing'; readonly field: string }

export type CompositeValue = Scalar | null

export interface CompositeSource {
  readonly name: string
  readonly field: string
  /** Undefined: the values themselves. */
  readonly grid: Extract<BucketSpec, { type: 'histogram' | 'date_histogram' }> | undefined
  /** Dates are shown in the format that was asked for, else as numbers. */
  readonly showsText: boolean
  readonly isAscending: boolean
  /** Documents without a value have a bucket. */
  readonly hasMissing: boolean
  readonly isMissingFirst: boolean
}

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
  | { readonly type: 'extended_stats'; readonly field: string; readonly sigma: number; readonly missing?: Scalar }
  | { readonly type: 'cardinality'; readonly field: string; readonly missing?: Scalar }
  | {
      readonly type: 'top_hits'
      readonly from: number
      readonly size: number
      readonly sort: readonly SortSpec[]
      readonly source: SourceFilter
    }

/** Made of the values of buckets next to each other, or of one bucket. */
export interface PipelineSpec {
  readonly name: string
  /** Other values of a bucket, by the names that `work` has for them. */
  readonly paths: Readonly<Record<string, string>>
  /** How a bucket without documents counts. */
  readonly gaps: 'skip' | 'zero'
  /** The members of each bucket's result, in order; undefined: it has none. `values`: of each bucket, NaN for a gap. */
  readonly work: (
    values: readonly Readonly<Record<string, number>>[],
    keys: readonly number[],
  ) => readonly (Record<string, number> | undefined)[]
}

export type AggregationSpec = {
  readonly name: string
  readonly below: readonly AggregationSpec[]
  /** In an order in which each has its values. */
  readonly pipelines: readonly PipelineSpec[]
} & (BucketSpec | MetricSpec)

export type SpecOf<T extends AggregationSpec['type']> = Extract<AggregationSpec, { type: T }>
