import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ALL_LOGS } from '../../contract/indices.ts'
import { formatDay } from '../../domain/records/timestamp.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { startRetention } from './retention.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
/** Days of the fake clock that are not over for long. */
const YOUNG = ['service-logs-2025.12.31', 'service-logs-2026.01.01']

const startOf = (name: string) => Date.parse(name.slice(-10).replaceAll('.', '-'))

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
      timeMs: async () => clock.nowMs(),
      listIndices: (pattern: string) => (pattern === ALL_LOGS ? listIndices() : anomalies.listIndices(pattern)),
      deleteIndex: async (name: string) => void deleted.push(name),
    }
    return {
      clock,
      deleted,
      anomalies,
      retention: startRetention({ store, retentionDays: 30, incidentRetentionDays: 365, clock, log: SILENT }),
    }
  }

  it('deletes what has expired when the bridge starts, and every ten minutes', async () => {
    let day = 1
    const { clock, deleted, retention } = started(async () => [`service-logs-2020.01.0${day}`, ...YOUNG])
    await untilAsleep(clock)
    expect(deleted).to.deep.equal(['service-logs-2020.01.01'])
    day = 2
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

  it('deletes incidents that were resolved a year ago', async () => {
    const { clock, anomalies, retention } = started(async () => [])
    await untilAsleep(clock)
    for (const days of [364, 366]) {
      const resolvedAt = new Date(clock.nowMs() - days * DAY_MS).toISOString()
      await storeIncidents(anomalies, { id: `${days}`, tenantId: 'shop', status: 'resolved', updatedAt: resolvedAt, resolvedAt })
    }
    clock.advance(10 * MINUTE_MS)
    await untilAsleep(clock)
    clock.advance(MINUTE_MS)
    await untilAsleep(clock)
    expect([...anomalies.documents('service-incidents-shop').keys()]).to.deep.equal(['364'])
    await retention.stop()
  })

  it('tries again in a minute when the search store does not answer', async () => {
    let isDown = true
    const { clock, deleted, retention } = started(async () => {
      if (isDown) throw new Error('no answer')
      return ['service-logs-2020.01.01', ...YOUNG]
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
    const retention = startRetention({ store, retentionDays: 30, incidentRetentionDays: 365, retentionBytes: 10, clock, log: SILENT })
    while (clock.sleepers < 2) await new Promise(setImmediate)
    const day = (days: number) => `service-logs-${formatDay(clock.nowMs() - days * 24 * 60 * MINUTE_MS)}`
    for (const days of [0, 1, 2]) await store.put(day(days), 'one', { message: 'of that day' })
    clock.advance(MINUTE_MS / 4)
    while (clock.sleepers < 2) await new Promise(setImmediate)
    expect(await store.listIndices(ALL_LOGS)).to.deep.equal([day(0)])
    await retention.stop()
  })

  describe('a clock that is far ahead', () => {
    /** A store with logs of the last days, and one day past retention, whose own clock is `storeAheadMs` ahead of the right time. */
    const startedOn = (clock: FakeClock, storeAheadMs: number | undefined, rightMs = clock.nowMs(), madeMs?: number) => {
      const startedMs = clock.monotonicMs!()
      const right = () => rightMs + clock.monotonicMs!() - startedMs
      const memory = createMemorySearchStore()
      const days = new Set([31, 30, 20, 2, 1, 0].map(ago => `service-logs-${formatDay(rightMs - ago * DAY_MS)}`))
      const errors: string[] = []
      const store = {
        ...memory,
        listIndices: async (pattern: string) => (pattern === ALL_LOGS ? [...days] : []),
        timeMs: async () => (storeAheadMs === undefined ? undefined : right() + storeAheadMs),
        indexCreations: async () => new Map([...days].map(name => [name, madeMs ?? startOf(name) + DAY_MS / 2])),
        deleteIndex: async (name: string) => void days.delete(name),
      }
      const log = { ...SILENT, error: (_: object, message: string) => void errors.push(message) }
      const retention = startRetention({ store, retentionDays: 30, incidentRetentionDays: 365, clock, log })
      const pass = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 10 * MINUTE_MS) {
          clock.advance(10 * MINUTE_MS)
          await untilAsleep(clock)
        }
      }
      return { days, errors, retention, pass }
    }
    const AHEAD = { 'a day': DAY_MS, 'forty days': 40 * DAY_MS, 'ten years': 3650 * DAY_MS }

    for (const [text, aheadMs] of Object.entries(AHEAD)) {
      it(`by ${text} at the start deletes nothing that is young by the store's clock, however long it stays so`, async () => {
        const clock = createFakeClock()
        const rightMs = clock.nowMs()
        clock.shiftTimeOfDay(aheadMs)
        const { days, errors, retention, pass } = startedOn(clock, 0, rightMs)
        await untilAsleep(clock)
        expect([...days]).to.have.length(5)
        await pass(1.5 * DAY_MS)
        expect([...days]).to.have.length(4)
        expect(errors).to.have.length(1)
        expect(errors[0]).to.match(/^this machine's clock and the search store's differ/)
        await retention.stop()
      })

      it(`by ${text}, with that of the store, deletes in the first day at most what is due within two`, async () => {
        const clock = createFakeClock()
        const rightMs = clock.nowMs()
        clock.shiftTimeOfDay(aheadMs)
        const { days, retention, pass } = startedOn(clock, aheadMs, rightMs)
        await untilAsleep(clock)
        await pass(DAY_MS - 20 * MINUTE_MS)
        expect([...days]).to.have.length.of.at.least(4)
        await retention.stop()
      })

      it(`set ahead by ${text} while the bridge runs deletes nothing for a day, and goes on from where it was when it is set right`, async () => {
        const clock = createFakeClock()
        const { days, errors, retention, pass } = startedOn(clock, undefined)
        await untilAsleep(clock)
        expect([...days]).to.have.length(5)
        clock.shiftTimeOfDay(aheadMs)
        await pass(DAY_MS - 20 * MINUTE_MS)
        expect([...days]).to.have.length(5)
        clock.shiftTimeOfDay(-aheadMs)
        await pass(DAY_MS)
        expect([...days]).to.have.length(4)
        expect(errors).to.have.length(1)
        expect(errors[0]).to.match(/^the clock says that these daily indices are past retention, and nothing else does/)
        await retention.stop()
      })
    }

    it('is believed after a day: nothing has come for a month', async () => {
      const clock = createFakeClock()
      const { days, retention, pass } = startedOn(clock, 32 * DAY_MS, clock.nowMs() - 32 * DAY_MS)
      await untilAsleep(clock)
      await pass(DAY_MS - 20 * MINUTE_MS)
      expect([...days]).to.have.length.of.at.least(4)
      await pass(40 * MINUTE_MS)
      expect([...days]).to.deep.equal([])
      await retention.stop()
    })

    it('is believed at once where the index of a day long past was made by that time: only old logs have been sent', async () => {
      const clock = createFakeClock()
      const { days, retention } = startedOn(clock, 32 * DAY_MS, clock.nowMs() - 32 * DAY_MS, clock.nowMs() - 2 * MINUTE_MS)
      await untilAsleep(clock)
      expect([...days]).to.deep.equal([])
      await retention.stop()
    })

    it('of a store that is ahead deletes nothing that is young by that of the machine', async () => {
      const clock = createFakeClock()
      const { days, retention } = startedOn(clock, 3650 * DAY_MS)
      await untilAsleep(clock)
      expect([...days]).to.have.length(5)
      await retention.stop()
    })

    it('that made logs of its own day says nothing for them', async () => {
      const clock = createFakeClock()
      const rightMs = clock.nowMs()
      clock.shiftTimeOfDay(400 * DAY_MS)
      const { days, retention, pass } = startedOn(clock, 400 * DAY_MS, rightMs)
      days.add(`service-logs-${formatDay(clock.nowMs())}`)
      await untilAsleep(clock)
      await pass(DAY_MS - 20 * MINUTE_MS)
      expect([...days]).to.have.length.of.at.least(5)
      await retention.stop()
    })
  })
})
