/** `/metrics`: the process and what the store holds, for Prometheus (Decisions 2). */
import { createMetrics, type Metrics } from '../../../telemetry/metrics.ts'
import type { QueryRunner } from '../../calls/query-call.ts'
import type { Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { type Route, routes } from '../route.ts'

export const METRICS_ROUTES: readonly Route[] = routes(['GET', 'HEAD'], ['/metrics'], [], async ({ deps: { metrics } }) => ({
  status: 200,
  text: await metrics.text(),
  headers: { 'content-type': metrics.contentType },
}))

export function createStoreMetrics(catalog: Catalog, queries: QueryRunner): Metrics {
  const metrics = createMetrics()
  const sum = (pick: (index: CatalogIndex) => number) => () => catalog.indices.reduce((total, index) => total + pick(index), 0)
  metrics.processMetrics()
  metrics.gauge({ name: 'service_search_indices', help: 'Indices.' }, () => catalog.indices.length)
  metrics.gauge(
    { name: 'service_search_documents', help: 'Documents in all indices.' },
    sum(index => index.storage.docCount),
  )
  metrics.gauge(
    { name: 'service_search_stored_bytes', help: 'Bytes on disk of all indices.' },
    sum(index => index.storage.sizeBytes),
  )
  metrics.gauge({ name: 'service_search_queries_running', help: 'Queries under way.' }, () => queries.counters.running)
  metrics.gauge(
    { name: 'service_search_queries_cancelled_total', help: 'Queries given up because their clients went away.' },
    () => queries.counters.cancelled,
  )
  metrics.gauge(
    { name: 'service_search_queries_refused_total', help: 'Queries answered 429 because too many were under way.' },
    () => queries.counters.refused,
  )
  metrics.labelledGauge(
    { name: 'service_search_query_processes_ended_total', help: 'Query processes that ended, by reason.' },
    'reason',
    async () => Object.entries(queries.counters.ended),
  )
  return metrics
}
