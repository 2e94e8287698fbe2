/** The table from aggregation to collector. */
import type { RankedDocument } from '../query/top-documents.ts'
import type { Below, BucketBudget } from './bucket-table.ts'
import { createCardinality } from './cardinality.ts'
import type { Collector } from './collector.ts'
import { createFilter, createFilters, createMissing } from './filters.ts'
import { createDateHistogram, createHistogram } from './histogram.ts'
import { createSimpleMetric } from './metrics.ts'
import { createPercentiles } from './percentiles.ts'
import { createRange } from './ranges.ts'
import type { AggregationSpec, SpecOf } from './spec.ts'
import { createTerms } from './terms.ts'
import { createTopHits } from './top-hits.ts'

export interface CollectContext {
  /** What `now` means throughout the request. */
  readonly nowMs: number
  readonly budget: BucketBudget
  /** A document as a hit. */
  showHit(document: RankedDocument, spec: SpecOf<'top_hits'>): Record<string, unknown>
}

/** Makes a fresh set of collectors each time it is called: one for the whole search, one for each bucket. */
export function createCollectors(specs: readonly AggregationSpec[], context: CollectContext): () => Below {
  const factories = specs.map(spec => [spec.name, factoryOf(spec, context)] as const)
  return () => new Map(factories.map(([name, create]) => [name, create()]))
}

function factoryOf(spec: AggregationSpec, context: CollectContext): () => Collector {
  const below = createCollectors(spec.below, context)
  switch (spec.type) {
    case 'terms':
      return () => createTerms(spec, below, context)
    case 'date_histogram':
      return () => createDateHistogram(spec, below, context)
    case 'histogram':
      return () => createHistogram(spec, below, context)
    case 'range':
    case 'date_range':
      return () => createRange(spec, below, context)
    case 'filters':
      return () => createFilters(spec, below, context)
    case 'filter':
      return () => createFilter(spec, below)
    case 'missing':
      return () => createMissing(spec, below)
    case 'percentiles':
      return () => createPercentiles(spec)
    case 'cardinality':
      return () => createCardinality(spec)
    case 'top_hits':
      return () => createTopHits(spec, context)
    default:
      return () => createSimpleMetric(spec)
  }
}
