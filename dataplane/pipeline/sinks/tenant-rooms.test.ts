import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createTenantRooms } from './tenant-rooms.ts'

const STORE = { listIndices: async () => [] }
const FLOOD = Array.from({ length: 4_000 }, (_, i) => `flood-${i}`)

describe('indices of new tenants', () => {
  it('go first to tenants that have sent logs for longest, and to others as well', async () => {
    const clock = createFakeClock()
    const rooms = createTenantRooms({ store: STORE, clock, knownSinceMs: tenant => (tenant === 'shop' ? 1 : 2) })
    const admitted = await rooms.admit([...FLOOD, 'shop'])
    expect(admitted.size).to.equal(10)
    expect([...admitted]).to.include.members(['shop', 'flood-0'])
  })

  it('are a hundred a minute, however many tenants ask', async () => {
    const clock = createFakeClock()
    const rooms = createTenantRooms({ store: STORE, clock })
    const admitted = new Set<string>()
    for (let at = 0; at < FLOOD.length; at += 100) for (const tenant of await rooms.admit(FLOOD.slice(at, at + 100))) admitted.add(tenant)
    expect(admitted.size).to.equal(100)
  })
})
