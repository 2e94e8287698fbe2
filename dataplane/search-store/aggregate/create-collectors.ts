/** The table from aggregation to collector. */

import type { CollectContext, Collector } from './aggregation-collector.ts'
import { type Below, NO_BELOW } from './buckets/bucket-table.ts'
import { createComposite } from './buckets/composite.ts'
import { createAdjacencyMatrix, createFilter, createFilters, createMissing } from './buckets/filters.ts'
import { createDateHistogram, createHistogram } from './buckets/histogram.ts'
import { createMultiTerms } from './buckets/multi-terms.ts'
import { createRange } from './buckets/ranges.ts'
import { createTerms } from './buckets/terms.ts'
import { createCardinality } from './metrics/cardinality.ts'
import { createExtendedStats } from './metrics/extended-stats.ts'
import { createMedianAbsoluteDeviation } from './metrics/median-absolute-deviation.ts'
import { createSimpleMetric } from './metrics/metrics.ts'
import { createPercentileRanks, createPercentiles } from './metrics/percentiles.ts'
import { createTopHits } from './metrics/top-hits.ts'
import { createWeightedAverage } from './metrics/weighted-average.ts'
import { BUCKET_PARSERS } from './parse/parse-buckets.ts'
import { withPipelines } from './pipelines/pipelines.ts'
import type { AggregationSpec } from './spec.ts'

/** Memory of a collector before it has seen a match, bytes, about: one with buckets and one without. */
const BUCKETS_BYTES = 900
const METRIC_BYTES = 400

/** Makes a fresh set of collectors each time it is called: one for the whole search, one for each bucket. Their memory is charged before. */
export function createCollectors(specs: readonly AggregationSpec[], context: CollectContext): () => Below {
  if (specs.length === 0) return NO_BELOW
  const factories = specs.map(spec => [spec.name, factoryOf(spec, context)] as const)
  const bytes = specs.reduce((sum, { type }) => sum + (Object.hasOwn(BUCKET_PARSERS, type) ? BUCKETS_BYTES : METRIC_BYTES), 0)
  return () => {
    context.memory.charge(bytes, 'fewer buckets, or fewer aggregations below them')
    return new Map(factories.map(([name, create]) => [name, create()]))
  }
}

function factoryOf(spec: AggregationSpec, context: CollectContext): () => Collector {
  const create = plainFactoryOf(spec, context)
  const { meta, pipelines, summaries } = spec
  if (meta === undefined && pipelines.length === 0 && summaries.length === 0) return create
  return () => {
    const collector = create()
    return { ...collector, result: () => ({ ...(meta !== undefined && { meta }), ...withPipelines(collector.result(), spec) }) }
  }
}

function plainFactoryOf(spec: AggregationSpec, context: CollectContext): () => Collector {
  const below = createCollectors(spec.below, context)
  switch (spec.type) {
    case 'terms':
    case 'rare_terms':
      return () => createTerms(spec, below, context)
    case 'multi_terms':
      return () => createMultiTerms(spec, below, context)
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
      return () => createFilter(spec, below, context)
    case 'adjacency_matrix':
      return () => createAdjacencyMatrix(spec, below, context)
    case 'missing':
      return () => createMissing(spec, below, context)
    case 'weighted_avg':
      return () => createWeightedAverage(spec)
    case 'median_absolute_deviation':
      return () => createMedianAbsoluteDeviation(spec, context)
    case 'percentiles':
      return () => createPercentiles(spec, context)
    case 'percentile_ranks':
      return () => createPercentileRanks(spec, context)
    case 'composite':
      return () => createComposite(spec, below, context)
    case 'extended_stats':
      return () => createExtendedStats(spec)
    case 'cardinality':
      return () => createCardinality(spec, context)
    case 'top_hits':
      return () => createTopHits(spec, context)
    default:
      return () => createSimpleMetric(spec)
  }
}
