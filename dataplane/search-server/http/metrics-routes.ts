/** `/metrics`: the process and what the store holds, for Prometheus (Decisions 2). */
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import type { Catalog, CatalogIndex } from '../catalog/catalog.ts'
import type { Route } from './route.ts'

export const METRICS_ROUTES: readonly Route[] = [
  {
    methods: ['GET', 'HEAD'],
    pattern: '/metrics',
    body: 'query',
    parameters: [],
    async handle({ deps: { metrics } }) {
      return { status: 200, text: await metrics.text(), headers: { 'content-type': metrics.contentType } }
    },
  },
]

export function createStoreMetrics(catalog: Catalog): Metrics {
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
  return metrics
}
