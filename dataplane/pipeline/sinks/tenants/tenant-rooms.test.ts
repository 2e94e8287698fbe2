import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../../testing/fake-clock.ts'
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

  it('are a hundred a minute and ten in a second, however many tenants ask, and however often', async () => {
    const clock = createFakeClock()
    const rooms = createTenantRooms({ store: STORE, clock })
    const admitted = new Set<string>()
    const askForSeconds = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        for (let at = 0; at < FLOOD.length; at += 400)
          for (const tenant of await rooms.admit(FLOOD.slice(at, at + 400))) admitted.add(tenant)
        clock.advance(1_000)
      }
      return admitted.size
    }
    expect(await askForSeconds(1)).to.equal(10)
    expect(await askForSeconds(8)).to.equal(90)
    expect(await askForSeconds(51)).to.be.within(190, 200)
  })
})
