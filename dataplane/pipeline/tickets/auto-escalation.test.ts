import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { escalateOverdue } from './auto-escalation.ts'
import { createSilenceStore, type SilenceStore } from './silence-store.ts'
import { buildConfig, createFakeConfig } from './testing/fake-config.ts'

const ONE_MINUTE_EACH = { critical: 60_000, high: 60_000, medium: 60_000, low: 60_000 }
const DISPATCHED = { ticketing: { takenAt: '2026-01-01T00:00:00.000Z', dispatchedAt: '2026-01-01T00:00:00.000Z' } }

describe('automatic escalation', () => {
  it('of an incident that cannot be changed, or a tenant whose settings cannot be read, holds up nobody else', async () => {
    const store = createMemorySearchStore()
    const tenants = ['broken', 'mute', 'fine']
    for (const tenantId of tenants)
      for (const n of [1, 2]) await storeIncidents(store, { ...DISPATCHED, id: `${tenantId}-${n}`, tenantId } as object)
    const escalated: string[] = []
    const config = createFakeConfig(buildConfig(['slack'], { escalateAfterMs: ONE_MINUTE_EACH }))
    const failed = escalateOverdue({
      store,
      clock: createFakeClock(Date.parse('2026-01-01T01:00:00.000Z')),
      config: {
        load: async tenant => {
          if (tenant === 'mute') throw new Error('settings cannot be read')
          return config.load(tenant)
        },
      },
      silences: { recent: async () => [] },
      escalate: async (_tenant, id) => {
        if (id === 'broken-1') throw new Error('refused')
        escalated.push(id)
      },
    })
    expect(await failed.catch(({ message }) => message), 'told').to.be.oneOf(['refused', 'settings cannot be read'])
    expect(escalated.sort()).to.deep.equal(['broken-2', 'fine-1', 'fine-2'])
  })

  describe('in a round', () => {
    const DAY_MS = 86_400_000
    let store: MemorySearchStore
    let clock: FakeClock
    let silences: SilenceStore
    let escalated: string[]
    beforeEach(() => {
      store = createMemorySearchStore()
      clock = createFakeClock(Date.parse(DISPATCHED.ticketing.dispatchedAt))
      silences = createSilenceStore({ store, clock })
      escalated = []
    })
    const config = createFakeConfig(buildConfig(['slack'], { escalateAfterMs: ONE_MINUTE_EACH }))
    const escalate = async (_tenant: string, id: string) => void escalated.push(id)
    const pass = async (ms: number) => {
      clock.advance(ms)
      await escalateOverdue({ store, clock, config, silences, escalate })
      return escalated.splice(0).sort()
    }
    const iso = (ms: number) => new Date(clock.nowMs() + ms).toISOString()

    it('waits for no time that is ahead of a clock that was set back', async () => {
      await storeIncidents(store, { ...DISPATCHED, id: 'i1', tenantId: 'acme' } as object)
      expect(await pass(-DAY_MS)).to.deep.equal([])
      expect(await pass(59_000)).to.deep.equal([])
      expect(await pass(1_000)).to.deep.equal(['i1'])
    })

    it('takes the time of an agent whose clock is a little ahead as it is', async () => {
      await storeIncidents(store, { ...DISPATCHED, id: 'i1', tenantId: 'acme' } as object)
      expect(await pass(-30_000)).to.deep.equal([])
      expect(await pass(89_000)).to.deep.equal([])
      expect(await pass(1_000)).to.deep.equal(['i1'])
    })

    it('waits for the end of a silence, and not with services that it does not name', async () => {
      for (let n = 0; n < 60; n++)
        await storeIncidents(store, { ...DISPATCHED, id: `quiet-${n}`, tenantId: 'acme', service: 'cart' } as object)
      await storeIncidents(store, { ...DISPATCHED, id: 'loud', tenantId: 'acme', service: 'payment' } as object)
      await silences.add('acme', { services: ['ca*'], from: iso(-1), to: iso(3_600_000), reason: 'release' })
      expect(await pass(60_000)).to.deep.equal(['loud'])
      expect(await pass(3_540_000)).to.have.length(50)
    })
  })
})
