import { expect } from 'chai'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createTenantPlaces, type PlaceLimits } from './tenant-places.ts'

describe('places for work of tenants', () => {
  const LIMITS: PlaceLimits = { atOnce: 6, ofTenant: 4, keptFree: 2 }
  const start = (limits = LIMITS) => {
    const clock = createFakeClock()
    const places = createTenantPlaces(limits, clock)
    let last = 0
    const take = (tenant: string) => {
      const work = Promise.withResolvers<void>()
      const key = `${tenant}/${++last}`
      return { key, freed: places.take(key, tenant, work.promise), end: work.resolve }
    }
    return { clock, places, take }
  }

  it('are taken until the work ends', async () => {
    const { places, take } = start()
    const { key, freed, end } = take('shop')
    expect(places.isTaken(key)).to.equal(true)
    expect(places.freeFor('shop')).to.equal(3)
    end()
    await freed
    expect(places.isTaken(key)).to.equal(false)
    expect(places.freeFor('shop')).to.equal(4)
  })

  it('are limited for each tenant', () => {
    const { places, take } = start({ ...LIMITS, atOnce: 100 })
    for (let i = 0; i < 4; i++) take('shop')
    expect(places.freeFor('shop')).to.equal(0)
    expect(places.freeFor('bank')).to.equal(4)
  })

  it('stay free in part for tenants with fewer than two of them', () => {
    const { places, take } = start()
    for (let i = 0; i < 2; i++) take('shop')
    for (let i = 0; i < 2; i++) take('bank')
    expect(places.freeFor('shop')).to.equal(0)
    expect(places.freeFor('new')).to.equal(2)
  })

  it('are free again for others while work takes long, up to the total', () => {
    const { clock, places, take } = start({ ...LIMITS, freshMs: 1_000, total: 8, ofTenant: 8, keptFree: 0 })
    for (let i = 0; i < 6; i++) take('slow')
    expect(places.freeFor('new')).to.equal(0)
    clock.advance(1_000)
    expect(places.freeFor('new')).to.equal(2)
  })

  it('are waited for, for a time', async () => {
    const { clock, places, take } = start()
    const { end } = take('shop')
    let isOver = false
    const over = places.idleWithin(5_000).then(() => (isOver = true))
    clock.advance(4_999)
    await Promise.resolve()
    expect(isOver).to.equal(false)
    clock.advance(1)
    await over
    end()
    await places.idle()
    expect(places.freeFor('shop')).to.equal(4)
  })
})
