/** An aggregation as the client asked for it, checked for form. */
import type { TermPattern } from '../analysis/term-pattern.ts'
import type { CalendarUnit } from '../dates/calendar.ts'
import type { DateFormat } from '../dates/date-format.ts'
import type { TimeZone } from '../dates/time-zone.ts'
import type { JsonObject } from '../json/json-reader.ts'
import type { FieldType } from '../mapping/field-types.ts'
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

/** A field, and the value that stands in for none. */
export interface ValueSource {
  readonly field: string
  readonly missing?: Scalar
}

/** The terms that have buckets: by name, by a regular expression, or every so many by their hashes. */
export interface TermFilter {
  readonly include?: TermChoice
  readonly exclude?: TermChoice
}

export type TermChoice =
  | { readonly names: ReadonlySet<string> }
  | { readonly pattern: TermPattern }
  | { readonly partition: number; readonly partitions: number }

interface HistogramOptions {
  readonly field: string
  readonly minDocCount: number
  readonly order: BucketOrder
  readonly keyed: boolean
  readonly missing?: Scalar
}

export type BucketSpec =
  | (ValueSource &
      TermFilter & {
        readonly type: 'terms'
        /** Where the index lacks the field. */
        readonly valueType?: FieldType
        readonly size: number
        readonly order: readonly BucketOrder[]
        readonly minDocCount: number
        /** Each bucket says by how much its count may be wrong, which is 0 here. */
        readonly showsErrors: boolean
      })
  | (ValueSource & TermFilter & { readonly type: 'rare_terms'; readonly maxDocCount: number })
  | {
      readonly type: 'multi_terms'
      readonly sources: readonly ValueSource[]
      readonly size: number
      readonly order: readonly BucketOrder[]
      readonly minDocCount: number
      readonly showsErrors: boolean
    }
  | (HistogramOptions & {
      readonly type: 'date_histogram'
      readonly interval: { readonly ms: number } | { readonly unit: CalendarUnit }
      readonly zone: TimeZone
      readonly offsetMs: number
      /** Undefined: that of the field. */
      readonly format?: DateFormat
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
      readonly zone: TimeZone
      readonly missing?: Scalar
    }
  | {
      readonly type: 'filters'
      readonly filters: readonly { readonly key: string | undefined; readonly query: Query }[]
      /** Key of the bucket for everything else. */
      readonly otherKey?: string
    }
  | { readonly type: 'filter'; readonly query: Query }
  | {
      readonly type: 'adjacency_matrix'
      readonly filters: readonly { readonly key: string; readonly query: Query }[]
      /** Between the keys of two filters whose matches a bucket has. */
      readonly separator: string
      readonly showsPairsAlone: boolean
    }
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
      /** As a histogram of high dynamic range has them, with so many digits. */
      readonly digits?: number
    }
  | {
      readonly type: 'percentile_ranks'
      readonly field: string
      /** Those whose ranks are asked for. */
      readonly values: readonly number[]
      readonly keyed: boolean
      readonly missing?: Scalar
    }
  | { readonly type: 'median_absolute_deviation'; readonly field: string; readonly missing?: Scalar }
  | { readonly type: 'weighted_avg'; readonly value: ValueSource; readonly weight: ValueSource }
  | { readonly type: 'extended_stats'; readonly field: string; readonly sigma: number; readonly missing?: Scalar }
  | { readonly type: 'cardinality'; readonly field: string; readonly missing?: Scalar }
  | {
      readonly type: 'top_hits'
      readonly from: number
      readonly size: number
      readonly sort: readonly SortSpec[]
      readonly source: SourceFilter
      readonly showVersion: boolean
      readonly showSeqNo: boolean
    }

/** Made of the values of buckets next to each other, or of one bucket. */
export interface PipelineSpec {
  readonly name: string
  readonly type: string
  /** Other values of a bucket, by the names that `work` has for them. */
  readonly paths: Readonly<Record<string, string>>
  /** How a bucket without documents counts. */
  readonly gaps: 'skip' | 'zero'
  /** The members of each bucket's result, in order; undefined: it has none. `values`: of each bucket, NaN for a gap. */
  readonly work: (
    values: readonly Readonly<Record<string, number>>[],
    keys: readonly number[],
  ) => readonly (Record<string, number> | undefined)[]
  /** The places of the buckets that stay, in their new order; for a pipeline that adds no members. */
  readonly arrange?: (values: readonly Readonly<Record<string, number>>[]) => readonly number[]
}

/** Made of all buckets of an aggregation beside it. */
export interface SummarySpec {
  readonly name: string
  readonly type: string
  /** Names of the aggregations that lead to the buckets and to their values. */
  readonly path: string
  readonly gaps: PipelineSpec['gaps']
  readonly work: (values: readonly number[], keys: readonly string[]) => Record<string, unknown>
}

export type AggregationSpec = {
  readonly name: string
  readonly below: readonly AggregationSpec[]
  /** In an order in which each has its values. */
  readonly pipelines: readonly PipelineSpec[]
  /** Beside those below, likewise. */
  readonly summaries: readonly SummarySpec[]
  /** Shown with the result as it came. */
  readonly meta?: JsonObject
} & (BucketSpec | MetricSpec)

export type SpecOf<T extends AggregationSpec['type']> = Extract<AggregationSpec, { type: T }>
