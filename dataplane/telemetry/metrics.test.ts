import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { BRIDGE_COUNTERS, type BridgeCounter } from '../contract/counters.ts'
import { createMetrics } from './metrics.ts'
import { attachSharedCounters, createSharedCounters } from './shared-counters.ts'

const KEYS = Object.keys(BRIDGE_COUNTERS) as BridgeCounter[]

describe('metrics', () => {
  it('exposes the six counters of the bridge, all without labels', async () => {
    const metrics = createMetrics()
    const shared = createSharedCounters(KEYS)
    metrics.sharedCounters(BRIDGE_COUNTERS, shared)
    shared.add('etlConsumed')
    shared.add('etlRecordsReceived', 250)
    const lines = (await metrics.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
    expect(lines).to.have.members([
      'service_bridge_etl_consumed_total 1',
      'service_bridge_etl_records_received_total 250',
      'service_bridge_etl_produced_total 0',
      'service_bridge_anomalies_detected_total 0',
      'service_bridge_opensearch_indexed_total 0',
      'service_bridge_opensearch_errors_total 0',
    ])
    expect(await metrics.text()).to.contain('# TYPE service_bridge_etl_consumed_total counter')
  })

  it('of the process stand once beside those of each role', async () => {
    const roles = [createMetrics(), createMetrics(), createMetrics()]
    for (const [k, metrics] of roles.entries()) metrics.gauge({ name: 'own', help: 'Of one role.' }, () => k)
    expect(await roles[0]!.text()).to.not.contain('process_cpu')
    for (const metrics of roles) metrics.processMetrics()
    const texts = await Promise.all(roles.map(metrics => metrics.text()))
    for (const [k, text] of texts.entries()) {
      expect(text.match(/^own .*$/gm)).to.deep.equal([`own ${k}`])
      expect(text.match(/^process_cpu_seconds_total /gm)).to.have.length(1)
      expect(text.match(/^nodejs_eventloop_lag_max_seconds /gm)).to.have.length(1)
      expect(text).to.match(/[^\n]\n$/)
    }
  })

  it('worker threads add without messages', async () => {
    const shared = createSharedCounters(KEYS)
    const code = `
      const { workerData } = require('node:worker_threads')
      import(workerData.module).then(({ attachSharedCounters }) => attachSharedCounters(workerData.keys, workerData.buffer).add('indexed', 7))`
    const module = new URL('./shared-counters.ts', import.meta.url).href
    const worker = new Worker(code, { eval: true, workerData: { module, keys: KEYS, buffer: shared.buffer } })
    await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
    expect(shared.value('indexed')).to.equal(7)
  })

  it('refuses a buffer of other counters', () => {
    expect(() => attachSharedCounters(['a'], createSharedCounters(KEYS).buffer)).to.throw('expected a buffer of 1 counters, seen 6')
  })

  it('counts and gauges of a table', async () => {
    const metrics = createMetrics()
    const add = metrics.counters({ seen: { name: 'seen_total', help: 'Seen.' } })
    metrics.gauge({ name: 'held', help: 'Held.' }, () => 3)
    add('seen', 2)
    expect(await metrics.text())
      .to.contain('seen_total 2')
      .and.to.contain('held 3')
  })
})
