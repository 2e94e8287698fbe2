import { expect } from 'chai'
import { eventually } from '../../../testing/eventually.ts'
import { isAnomalous, serviceOf } from './record-flow.ts'

interface Hits {
  readonly hits: { readonly hits: readonly { readonly _source: { readonly service: string; readonly anomalyCount: number } }[] }
}

const STORED_WITHIN = { timeoutMs: 30_000, pauseMs: 200 }

/** Every record is one document, every anomaly one, and each service has one incident that counts its anomalies. */
export async function expectStoredOnce(searchUrl: string, given: number): Promise<void> {
  const ask = async <T>(path: string) => (await (await fetch(`${searchUrl}/${path}`)).json()) as T
  const anomalies = Array.from({ length: given }, (_, record) => record).filter(isAnomalous)
  const counts = Object.fromEntries([...Map.groupBy(anomalies, serviceOf)].map(([service, records]) => [service, records.length]))
  await eventually(async () => {
    expect((await ask<{ count: number }>('service-logs-*/_count')).count, 'log documents').to.equal(given)
    expect((await ask<{ count: number }>('service-anomalies-*/_count')).count, 'anomaly documents').to.equal(anomalies.length)
    const { hits } = await ask<Hits>('service-incidents-*/_search?size=100')
    expect(hits.hits, 'incidents').to.have.length(Object.keys(counts).length)
    expect(Object.fromEntries(hits.hits.map(({ _source }) => [_source.service, _source.anomalyCount]))).to.deep.equal(counts)
  }, STORED_WITHIN)
}
