import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { SearchStoreUnavailable } from '../ports/search-store.ts'
import { SILENT } from '../telemetry/log.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createMemorySearchStore } from '../testing/memory-search-store.ts'
import { ensureBootstrapKey } from './bootstrap-key.ts'
import { type ApiKeyStore, createApiKeyStore, hashKey } from './key-store.ts'

const KEY = `svc_proj_${'0a'.repeat(32)}`

describe('the first key that a setting holds', () => {
  let keys: ApiKeyStore
  const clock = createFakeClock()
  const { signal } = new AbortController()
  const ensure = (tenant = 'acme', of: Pick<ApiKeyStore, 'adopt'> = keys) =>
    ensureBootstrapKey({ keys: of, tenant, key: KEY, clock, log: SILENT, signal })

  beforeEach(() => {
    keys = createApiKeyStore({ store: createMemorySearchStore(), clock })
  })

  it('stands for the tenant, is listed masked, and is made once', async () => {
    await ensure()
    await ensure()
    expect((await keys.find(hashKey(KEY)))?.tenant).to.equal('acme')
    const listed = await keys.list('acme')
    expect(listed.map(({ name, prefix }) => [name, prefix])).to.deep.equal([['bootstrap', 'svc_proj_0a0a…0a0a']])
  })

  it('is made once by two gateways that start together', async () => {
    expect((await Promise.all([keys.adopt('acme', 'a', KEY), keys.adopt('acme', 'a', KEY)])).sort()).to.deep.equal(['made', 'there'])
  })

  it('stays revoked', async () => {
    await ensure()
    const [listed] = await keys.list('acme')
    await keys.revoke('acme', listed!.id)
    await ensure()
    expect(await keys.find(hashKey(KEY))).to.equal(undefined)
  })

  it('stays that of the tenant who had it first', async () => {
    await ensure()
    await ensure('other')
    expect((await keys.find(hashKey(KEY)))?.tenant).to.equal('acme')
  })

  it('is made once the search store answers', async () => {
    let attempts = 0
    const adopt: ApiKeyStore['adopt'] = (...given) => {
      if (++attempts < 3) throw new SearchStoreUnavailable('away')
      return keys.adopt(...given)
    }
    const done = ensure('acme', { adopt })
    for (const _ of [1, 2]) {
      while (clock.sleepers === 0) await new Promise(setImmediate)
      clock.advance(2_000)
    }
    await done
    expect((await keys.find(hashKey(KEY)))?.tenant).to.equal('acme')
  })
})
