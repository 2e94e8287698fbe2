import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { TargetId } from '../../../contract/target-id.ts'
import type { DeclaredLayer } from '../../../ports/declared-ticketing.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createSecretCipher } from './secret-cipher.ts'
import { changeSection, type SectionName, type Sections } from './stored-sections.ts'
import { createTicketingConfig, type RememberingConfigSource } from './ticketing-config.ts'

const cipher = createSecretCipher([Buffer.alloc(32, 7)])

describe('the ticketing configuration that counts', () => {
  let store: MemorySearchStore
  let clock: FakeClock
  let layer: DeclaredLayer | undefined
  let config: RememberingConfigSource
  beforeEach(() => {
    store = createMemorySearchStore()
    clock = createFakeClock()
    layer = undefined
    config = createTicketingConfig({ store, clock, declared: { current: () => layer }, cipher })
  })
  const set = <S extends SectionName>(tenant: string, section: S, value: Sections[S]) =>
    changeSection({ store, clock }, { tenant, section, change: async () => value })
  const slack = (tenant: string, url: string, target: TargetId = 'slack') => ({
    [target]: {
      enabled: true,
      fields: {},
      secrets: { webhookUrl: cipher.seal({ tenant, section: 'platforms', target, field: 'webhookUrl' }, url) },
    },
  })
  const urlOf = async (tenant: string, id: TargetId = 'slack') => (await config.load(tenant)).targets.get(id)?.fields['webhookUrl']

  it('is that of a fresh installation', async () => {
    expect(await config.load('acme')).to.deep.equal({
      targets: new Map(),
      unusable: new Map(),
      routing: { critical: [], high: [], medium: [], low: [] },
      declaredRoutes: [],
      anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' },
      escalateAfterMs: { critical: null, high: null, medium: null, low: null },
      llm: { provider: 'none', model: '' },
    })
  })

  it('has each section of default that the tenant never set, with its secrets', async () => {
    await set('default', 'platforms', slack('default', 'https://default.example'))
    await set('default', 'routing', { high: ['slack'] })
    await set('acme', 'routing', { low: ['slack'] })
    await set('acme', 'escalation', { critical: '15m' })
    const acme = await config.load('acme')
    expect(acme.targets.get('slack')).to.deep.equal({
      ...{ id: 'slack', platform: 'slack', enabled: true },
      fields: { webhookUrl: 'https://default.example' },
    })
    expect(acme.routing).to.deep.equal({ critical: [], high: [], medium: [], low: ['slack'] })
    expect(acme.escalateAfterMs).to.deep.include({ critical: 900_000, high: null })
    expect((await config.load('default')).routing.high).to.deep.equal(['slack'])
  })

  it('a secret that is copied from another tenant makes its target unusable, and no other', async () => {
    await set('acme', 'platforms', {
      ...slack('default', 'https://default.example'),
      ...slack('acme', 'https://acme.example', 'slack:own'),
    })
    const { targets, unusable } = await config.load('acme')
    expect([...targets.keys()]).to.deep.equal(['slack:own'])
    expect([...unusable!]).to.deep.equal([['slack', 'slack.webhookUrl: cannot be decrypted: it was changed, or belongs elsewhere']])
  })

  it('what is declared wins', async () => {
    await set('default', 'platforms', slack('default', 'https://stored.example'))
    await set('default', 'llm', { provider: 'ollama', model: 'tiny' })
    layer = {
      anomaly: { minimumScore: 0.9 },
      llm: { provider: 'openai', model: 'small', apiKey: 'k' },
      platforms: { slack: { owner: 'a/b', fields: { webhookUrl: 'https://declared.example' } } },
      routes: [{ owner: 'a/b', platform: 'slack', severities: ['low'], escalation: false }],
    }
    const { anomaly, llm, declaredRoutes } = await config.load('acme')
    expect(await urlOf('acme')).to.equal('https://declared.example')
    expect(anomaly).to.deep.equal({ minimumScore: 0.9, lookbackWindow: '15m', recurring: 'dispatch' })
    expect(llm).to.deep.equal({ provider: 'openai', model: 'small', apiKey: 'k' })
    expect(declaredRoutes).to.deep.equal(layer.routes)
  })

  it('is at most a second old', async () => {
    await set('acme', 'platforms', slack('acme', 'https://one.example'))
    expect(await urlOf('acme')).to.equal('https://one.example')
    await set('acme', 'platforms', slack('acme', 'https://two.example'))
    clock.advance(999)
    expect(await urlOf('acme')).to.equal('https://one.example')
    clock.advance(1)
    expect(await urlOf('acme')).to.equal('https://two.example')
  })

  it('asks once for many that ask at once, and forgets a failure', async () => {
    let reads = 0
    const getMany = store.getMany.bind(store)
    store.getMany = (...request) => {
      reads++
      return getMany(...request)
    }
    await Promise.all(Array.from({ length: 50 }, () => config.load('acme')))
    expect(reads).to.equal(1)
    clock.advance(1_000)
    store.unavailable = true
    expect(await config.load('acme').catch(error => error.name)).to.equal('SearchStoreUnavailable')
    store.unavailable = false
    expect((await config.load('acme')).targets.size).to.equal(0)
  })

  it('remembers a bounded number of tenants', async () => {
    for (let i = 0; i < 3_000; i++) await config.load(`t${i}`)
    await set('t0', 'platforms', slack('t0', 'https://new.example'))
    expect(await urlOf('t0'), 'forgotten, so read again').to.equal('https://new.example')
  })
})
