import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openKafkaBus } from '../../adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { Bus } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { type Agent, startAgent } from './agent.ts'

export const needs = ['kafka', 'opensearch']

const HOUR_MS = 3_600_000

describe('the agent on Kafka and OpenSearch', function () {
  this.timeout(60_000)
  const id = randomUUID().slice(0, 8)
  const topics = { raw: `raw-${id}`, enriched: `enriched-${id}`, anomaly: `anomaly-${id}`, deadLetter: `dead-${id}` }
  const searchUrl = backendAddress('opensearch')
  const index = `service-agent-test-${id}`
  let bus: Bus
  let agent: Agent
  let caller: HttpCaller

  before(async () => {
    bus = await openKafkaBus({
      brokers: backendAddress('kafka').split(','),
      clock: systemClock,
      heartbeatMs: 50,
      topics: [
        { name: topics.raw, partitions: 6, retentionMs: HOUR_MS },
        { name: topics.enriched, partitions: 6, retentionMs: HOUR_MS },
        { name: topics.anomaly, partitions: 3, retentionMs: HOUR_MS },
        { name: topics.deadLetter, partitions: 1, retentionMs: HOUR_MS },
      ],
    })
    agent = await startAgent({
      bus: async () => bus,
      topics,
      search: { endpoint: searchUrl },
      stream: [],
      host: '127.0.0.1',
      port: 0,
      portSetting: 'PORT',
      clock: systemClock,
      log: SILENT,
    })
    caller = createCaller(`http://127.0.0.1:${agent.port}`)
  })
  after(async () => {
    await agent?.stop()
    await bus?.stop()
    await searchCall('DELETE', `/${index}`)
  })

  const searchCall = async (method: string, path: string, body?: string) => {
    const headers = { 'content-type': 'application/x-ndjson' }
    const response = await fetch(`${searchUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
    return (await response.json()) as unknown
  }
  /** The agent asks its sources at most once a second. */
  const metricsAnew = async () => {
    await systemClock.sleep(1_050)
    return (await caller.get('/metrics')).body
  }

  it('is ready', async () => {
    expect((await caller.get('/ready')).status).to.equal(200)
  })

  it('shows brokers, partitions and the lag of the groups', async () => {
    await bus.send(
      topics.raw,
      Array.from({ length: 10 }, (_, i) => ({ key: `k${i}`, value: Buffer.from('x') })),
    )
    expect((await metricsAnew()).bus.topics[topics.raw]).to.deep.equal({ partitions: 6, consumerLag: 10 })
    const subscription = await bus.subscribe({ groupId: consumerGroup('etl', [topics.raw]), topics: [topics.raw] })
    let read = 0
    while (read < 10) {
      const records = await subscription.poll({ maxRecords: 100, maxBytes: 1_000_000, waitMs: 1_000 })
      read += records.length
      if (records.length > 0)
        await subscription.commit(records.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset + 1 })))
    }
    await subscription.close()
    const { bus: section } = await metricsAnew()
    expect(section).to.deep.equal({
      status: 'healthy',
      brokers: 1,
      topics: {
        [topics.raw]: { partitions: 6, consumerLag: 0 },
        [topics.enriched]: { partitions: 6, consumerLag: 0 },
        [topics.anomaly]: { partitions: 3, consumerLag: 0 },
        [topics.deadLetter]: { partitions: 1, consumerLag: 0 },
      },
    })
  })

  it('shows the search store as _cluster/health and _cat/indices do', async () => {
    await searchCall('POST', `/${index}/_bulk?refresh=true`, '{"index":{}}\n{"a":1}\n{"index":{}}\n{"a":2}\n')
    const { search } = await metricsAnew()
    const health = (await searchCall('GET', '/_cluster/health')) as Record<string, unknown>
    const indices = (await searchCall('GET', '/_cat/indices?format=json')) as readonly { readonly 'docs.count': string }[]
    expect(search.status).to.equal(health['status'])
    expect(search.nodes).to.equal(health['number_of_nodes'])
    expect(search.activePrimaryShards).to.equal(health['active_primary_shards'])
    expect(search.activeShards).to.equal(health['active_shards'])
    expect(search.indices).to.equal(indices.length)
    expect(search.totalDocs)
      .to.equal(indices.reduce((sum, one) => sum + Number(one['docs.count']), 0))
      .and.to.be.at.least(2)
    expect(search.totalSizeBytes).to.be.a('number').above(0)
  })
})
