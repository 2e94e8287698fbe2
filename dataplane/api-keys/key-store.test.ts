import { expect } from 'chai'
import { describe, it } from 'mocha'
import { API_KEYS_INDEX } from '../contract/indices.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createMemorySearchStore } from '../testing/memory-search-store.ts'
import { createApiKeyStore, MAX_KEYS } from './key-store.ts'

describe('the keys of a tenant', () => {
  it('are so many at most, also where many are made at once', async () => {
    const store = createMemorySearchStore()
    const keys = createApiKeyStore({ store, clock: createFakeClock() })
    await keys.create('acme', 'first')
    const [first] = store.documents(API_KEYS_INDEX).values()
    for (let n = 1; n < MAX_KEYS - 2; n++) await store.put(API_KEYS_INDEX, `hash-${n}`, { ...first, id: `id-${n}` }, { only: 'new' })
    const made = await Promise.all(Array.from({ length: 5 }, () => keys.create('acme', 'more')))
    expect(made.map(key => key !== undefined)).to.deep.equal([true, true, false, false, false])
    expect(await keys.list('acme')).to.have.length(MAX_KEYS)
    expect((await keys.create('globex', 'first'))?.name).to.equal('first')
  })
})
