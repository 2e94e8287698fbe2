import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { API_KEYS_INDEX } from '../contract/indices.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../testing/memory-search-store.ts'
import { createKeyCheck, type KeyCheck } from './key-check.ts'
import { type ApiKeyStore, createApiKeyStore, hashKey } from './key-store.ts'

describe('who a key stands for', () => {
  let clock: FakeClock
  let store: MemorySearchStore
  let keys: ApiKeyStore
  let check: KeyCheck
  let key: string
  let id: string
  const turn = () => new Promise(setImmediate)
  /** As another replica does it. */
  const revokeElsewhere = () => {
    const { source } = { source: store.documents(API_KEYS_INDEX).get(hashKey(key))! }
    return store.put(API_KEYS_INDEX, hashKey(key), { ...source, revokedAt: '2026-01-01T00:00:00.000Z' })
  }

  beforeEach(async () => {
    clock = createFakeClock()
    store = createMemorySearchStore()
    keys = createApiKeyStore({ store, clock })
    check = createKeyCheck({ keys, clock, log: SILENT })
    const created = (await keys.create('acme', 'ci'))!
    key = created.key
    id = created.id
  })
  afterEach(() => check.stop())

  it('is its tenant', async () => {
    expect(await check.check(key)).to.deep.equal({ id, tenant: 'acme' })
  })

  it('is nobody for other texts, which are not looked up', () => {
    for (const text of [undefined, '', 'x', [key, key], `${key} `]) expect(check.check(text)).to.equal(undefined)
  })

  it('is known without asking the store for each request', async () => {
    await check.check(key)
    expect(check.check(key)).to.deep.equal({ id, tenant: 'acme' })
  })

  it('a revoked key stops at once in the process', async () => {
    await check.check(key)
    await keys.revoke('acme', id)
    expect(await check.check(key)).to.equal(undefined)
  })

  it('a key that another replica revoked stops within a second', async () => {
    await check.check(key)
    await revokeElsewhere()
    clock.advance(999)
    expect(await check.check(key)).to.equal(undefined)
  })

  it('a key that is used all the time stops as well', async () => {
    await check.check(key)
    await revokeElsewhere()
    for (let i = 0; i < 9; i++) {
      clock.advance(100)
      await check.check(key)
      await turn()
    }
    expect(await check.check(key)).to.equal(undefined)
  })

  it('is what it was while the search store is away, for five minutes', async () => {
    await check.check(key)
    store.unavailable = true
    clock.advance(299_000)
    expect(await check.check(key)).to.deep.equal({ id, tenant: 'acme' })
    clock.advance(2_000)
    expect(await Promise.resolve(check.check(key)).catch(error => error.name)).to.equal('SearchStoreUnavailable')
    store.unavailable = false
    expect(await check.check(key)).to.deep.equal({ id, tenant: 'acme' })
  })

  for (const [name, shiftMs] of [
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ] as const)
    it(`is that for five minutes, too, when the time of day is set ${name}`, async () => {
      await check.check(key)
      store.unavailable = true
      clock.shiftTimeOfDay(shiftMs)
      clock.advance(299_000)
      expect(await check.check(key)).to.deep.equal({ id, tenant: 'acme' })
      clock.advance(2_000)
      expect(await Promise.resolve(check.check(key)).catch(error => error.name)).to.equal('SearchStoreUnavailable')
    })

  it('is not forgotten over keys that somebody makes up, however many', async () => {
    await check.check(key)
    for (let n = 0; n < 10_001; n++) await check.check(`svc_proj_${n.toString(16).padStart(64, '0')}`)
    expect(check.check(key), 'without a look-up').to.deep.equal({ id, tenant: 'acme' })
    clock.advance(1_000)
    store.unavailable = true
    expect(await check.check(key), 'while the search store is away').to.deep.equal({ id, tenant: 'acme' })
  })

  it('is found with a key that was made after it was tried', async () => {
    const late = `svc_proj_${'a'.repeat(64)}`
    expect(await check.check(late)).to.equal(undefined)
    await keys.adopt('acme', 'late', late)
    clock.advance(1_000)
    expect((await check.check(late))?.tenant).to.equal('acme')
    expect(check.check(late)).to.include({ tenant: 'acme' })
  })

  it('uses are written in batches', async () => {
    await check.check(key)
    const [listed] = await keys.list('acme')
    expect(listed!.lastUsedAt).to.equal(null)
    clock.advance(1_000)
    for (let i = 0; i < 5; i++) await turn()
    expect((await keys.list('acme'))[0]!.lastUsedAt).to.equal('2026-01-01T00:00:00.000Z')
  })

  it('a use does not bring a revoked key back', async () => {
    await check.check(key)
    await keys.revoke('acme', id)
    await check.flush()
    expect(await keys.find(hashKey(key))).to.equal(undefined)
    expect(await keys.list('acme')).to.deep.equal([])
  })

  it('the value of a key is kept nowhere', () => {
    const text = JSON.stringify([...store.documents(API_KEYS_INDEX)])
    expect(text).to.contain(hashKey(key)).and.to.not.contain(key)
  })
})
