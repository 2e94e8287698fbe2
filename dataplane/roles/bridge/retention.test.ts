import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ALL_LOGS } from '../../contract/indices.ts'
import { formatDay } from '../../domain/records/timestamp.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { startRetention } from './retention.ts'

const MINUTE_MS = 60_000

/** Resolves once the check is over and the next one waited for. */
async function untilAsleep(clock: FakeClock): Promise<void> {
  while (clock.sleepers === 0) await new Promise(setImmediate)
}

describe('retention in the bridge', () => {
  const started = (listIndices: () => Promise<readonly string[]>) => {
    const clock = createFakeClock()
    const deleted: string[] = []
    const anomalies = createMemorySearchStore()
    const store = {
      ...anomalies,
      listIndices: (pattern: string) => (pattern === ALL_LOGS ? listIndices() : anomalies.listIndices(pattern)),
      deleteIndex: async (name: string) => void deleted.push(name),
    }
    return { clock, deleted, anomalies, retention: startRetention({ store, retentionDays: 30, clock, log: SILENT }) }
  }

  it('deletes what has expired when the bridge starts, and every ten minutes', async () => {
    let checks = 0
    const { clock, deleted, retention } = started(async () => [`service-logs-2020.01.0${++checks}`])
    await untilAsleep(clock)
    expect(deleted).to.deep.equal(['service-logs-2020.01.01'])
    clock.advance(10 * MINUTE_MS - 1)
    await untilAsleep(clock)
    expect(deleted).to.have.length(1)
    clock.advance(1)
    await untilAsleep(clock)
    expect(deleted).to.have.length(2)
    await retention.stop()
  })

  it('deletes anomalies of the same age', async () => {
    const { clock, anomalies, retention } = started(async () => [])
    await untilAsleep(clock)
    const index = 'service-anomalies-shop'
    for (const days of [29, 31])
      await anomalies.put(index, `${days}`, { timestamp: new Date(clock.nowMs() - days * 24 * 60 * MINUTE_MS).toISOString() })
    clock.advance(10 * MINUTE_MS)
    await untilAsleep(clock)
    clock.advance(MINUTE_MS)
    await untilAsleep(clock)
    expect([...anomalies.documents(index).keys()]).to.deep.equal(['29'])
    await retention.stop()
  })

  it('deletes what was told of incidents that were resolved as long ago', async () => {
    const { clock, anomalies, retention } = started(async () => [])
    await untilAsleep(clock)
    const index = 'service-dispatches-shop'
    for (const days of [29, 31]) {
      const updatedAt = new Date(clock.nowMs() - days * 24 * 60 * MINUTE_MS).toISOString()
      await anomalies.put('service-incidents-shop', `${days}`, { status: 'resolved', updatedAt, resolvedAt: updatedAt })
      const thread = { tenantId: 'shop', incidentId: `${days}`, platform: 'slack', state: 'settled', updatedAt }
      await anomalies.put(index, `${days}`, thread)
    }
    clock.advance(10 * MINUTE_MS)
    await untilAsleep(clock)
    expect([...anomalies.documents(index).keys()]).to.deep.equal(['29'])
    await retention.stop()
  })

  it('tries again in a minute when the search store does not answer', async () => {
    let isDown = true
    const { clock, deleted, retention } = started(async () => {
      if (isDown) throw new Error('no answer')
      return ['service-logs-2020.01.01']
    })
    await untilAsleep(clock)
    isDown = false
    clock.advance(MINUTE_MS)
    await untilAsleep(clock)
    expect(deleted).to.deep.equal(['service-logs-2020.01.01'])
    await retention.stop()
  })

  it('looks four times a minute whether daily indices take more disk than they may', async () => {
    const clock = createFakeClock()
    const store = createMemorySearchStore()
    const retention = startRetention({ store, retentionDays: 30, retentionBytes: 10, clock, log: SILENT })
    while (clock.sleepers < 2) await new Promise(setImmediate)
    const day = (days: number) => `service-logs-${formatDay(clock.nowMs() - days * 24 * 60 * MINUTE_MS)}`
    for (const days of [0, 1, 2]) await store.put(day(days), 'one', { message: 'of that day' })
    clock.advance(MINUTE_MS / 4)
    while (clock.sleepers < 2) await new Promise(setImmediate)
    expect(await store.listIndices(ALL_LOGS)).to.deep.equal([day(0)])
    await retention.stop()
  })
})
