import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { escalateOverdue } from './auto-escalation.ts'
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
      escalate: async (_tenant, id) => {
        if (id === 'broken-1') throw new Error('refused')
        escalated.push(id)
      },
    })
    expect(await failed.catch(({ message }) => message), 'told').to.be.oneOf(['refused', 'settings cannot be read'])
    expect(escalated.sort()).to.deep.equal(['broken-2', 'fine-1', 'fine-2'])
  })
})
