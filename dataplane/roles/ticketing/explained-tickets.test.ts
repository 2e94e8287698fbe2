/** Tickets and a language model, through HTTP: the ticket goes out first, the model's words follow; an outage delays and fails nothing (Decisions 6). */
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { createLanguageModel } from '../../adapters/language-model/language-model.ts'
import { createOutboundHttp } from '../../adapters/outbound-http/outbound-http.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import type { HttpServer } from '../../http/server.ts'
import { buildConfig, createFakeConfig, type FakeConfig } from '../../pipeline/tickets/testing/fake-config.ts'
import { createFakePlatforms, type FakePlatforms } from '../../pipeline/tickets/testing/fake-platforms.ts'
import type { LlmConfig } from '../../ports/language-model.ts'
import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { SILENT } from '../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { lastSeen } from '../../testing/eventually.ts'
import { buildExplainedIncident, buildRules } from '../../testing/explained-incident-fixture.ts'
import { createFastClock } from '../../testing/fast-clock.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { type MockModel, startMockModel } from '../../testing/mock-model/mock-model.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { startTicketing } from './ticketing.ts'

/** A ticket goes out two seconds after its incident, and the model is asked two seconds later. */
const TIMES_AS_FAST = 5
const TENANT = 'acme'

describe('tickets and a language model, through HTTP', function () {
  this.timeout(30_000)
  const clock = createFastClock(TIMES_AS_FAST)
  let embedded: EmbeddedSearchStore
  let mock: MockModel
  let outbound: OutboundHttp
  let server: HttpServer
  let api: HttpCaller
  let fake: FakePlatforms
  let config: FakeConfig
  let llmOfTenant: LlmConfig
  let id: string
  let tests = 0
  let found: RootCause

  before(async () => {
    embedded = await startEmbeddedSearchStore()
    await putIndexTemplates(embedded.store)
  })
  after(() => embedded.stop())
  beforeEach(async () => {
    id = `i${++tests}`
    found = buildRules()
    fake = createFakePlatforms()
    mock = await startMockModel()
    outbound = createOutboundHttp({ allowPrivate: true })
    config = createFakeConfig(buildConfig([]))
    const llm = { provider: 'openai-compatible', model: 'mock', baseUrl: `${mock.url}/v1` } as const
    llmOfTenant = llm
    config.tenants.set(TENANT, { ...buildConfig(['slack']), llm })
    await start(200_000)
    const now = new Date(clock.nowMs()).toISOString()
    const times = { createdAt: now, updatedAt: now, firstSeen: now, lastSeen: now }
    const { rootCause: _found, ...incident } = buildExplainedIncident({ ...times, id, tenantId: TENANT })
    mock.behave('good')
    await storeIncidents(embedded.store, incident)
  })
  afterEach(async () => {
    await server.stop()
    await outbound.close()
    await mock.stop()
  })

  const start = async (tokensPerHour: number) => {
    server = await startTicketing({
      ...{ store: embedded.store, clock, log: SILENT, host: '127.0.0.1', port: 0 },
      tickets: { platforms: fake.platforms, config, findCause: async () => ({ rootCause: found, windowMs: 180_000 }) },
      languageModel: createLanguageModel({ outbound, clock }),
      tokensPerHour,
    })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  }
  /** One more incident; the function reads it. */
  const storeAnother = async (suffix: string) => {
    const now = new Date(clock.nowMs()).toISOString()
    const times = { createdAt: now, updatedAt: now, firstSeen: now, lastSeen: now }
    const { rootCause: _found, ...incident } = buildExplainedIncident({ ...times, id: `${id}-${suffix}`, tenantId: TENANT })
    await storeIncidents(embedded.store, incident)
    return async () => (await api.get(`/api/incidents/${incident.id}`, TENANT)).body
  }
  const incident = async () => (await api.get(`/api/incidents/${id}`, TENANT)).body

  it('the ticket goes out with the words of the rules, the model’s follow as a comment and in rootCause', async () => {
    const events = await lastSeen(
      () => fake.events(id),
      seen => seen.length >= 2,
    )
    expect(events).to.deep.equal(['slack open', 'slack comment'])
    const [open, comment] = fake.arrived
    expect(open!.content.cause!.summary).to.equal(buildRules().summary)
    const { rootCause } = await incident()
    expect(rootCause).to.include({ mode: 'llm', fallback: false })
    expect(rootCause.summary).to.match(/^checkout is the most likely cause/)
    expect(rootCause.candidates).to.deep.equal(buildRules().candidates)
    expect(comment!.content.news).to.deep.equal([rootCause.summary])
  })

  it('an outage of the model: the ticket goes out as ever, rootCause says fallback, no comment follows', async () => {
    mock.behave('500')
    const { rootCause } = await lastSeen(incident, seen => seen.rootCause?.fallback === true)
    expect(rootCause).to.deep.equal({ ...buildRules(), fallback: true })
    await lastSeen(
      () => mock.requests.some(({ path }) => path.endsWith('/chat/completions')),
      isAsked => isAsked,
    )
    expect(fake.events(id)).to.deep.equal(['slack open'])
    expect((await incident()).rootCause).to.deep.equal(rootCause)
  })

  it('a model that cannot be reached: rootCause says fallback from the first time it is seen, also where the rules name no candidate', async () => {
    config.tenants.set(TENANT, { ...buildConfig(['slack']), llm: { ...llmOfTenant, baseUrl: 'http://127.0.0.1:9/v1' } })
    const read = await storeAnother('unreachable')
    expect((await lastSeen(read, seen => seen.rootCause !== undefined)).rootCause).to.deep.equal({ ...buildRules(), fallback: true })
    found = { ...buildRules(), candidates: [] }
    const bare = await storeAnother('bare')
    expect((await lastSeen(bare, seen => seen.rootCause !== undefined)).rootCause).to.deep.equal({ ...found, fallback: true })
  })

  it('a model that stalls delays no ticket', async () => {
    mock.behave('stall')
    const startMs = clock.nowMs()
    expect(
      await lastSeen(
        () => fake.events(id),
        seen => seen.length >= 1,
      ),
    ).to.deep.equal(['slack open'])
    expect(clock.nowMs() - startMs).to.be.below(10_000)
    expect((await incident()).rootCause).to.include({ mode: 'rules' })
  })

  it('an incident that is routed nowhere is explained all the same, and says fallback in an outage', async () => {
    config.tenants.set(TENANT, { ...buildConfig([]), llm: llmOfTenant })
    const explained = await storeAnother('nowhere')
    expect((await lastSeen(explained, seen => seen.rootCause?.mode === 'llm')).rootCause).to.include({ mode: 'llm', fallback: false })
    mock.behave('500')
    config.tenants.set(TENANT, { ...buildConfig([]), llm: { ...llmOfTenant, model: 'another' } })
    const fallen = await storeAnother('outage')
    expect((await lastSeen(fallen, seen => seen.rootCause?.fallback === true)).rootCause).to.include({ mode: 'rules', fallback: true })
  })

  it('a tenant whose tokens of the hour are used up: the ticket as ever, rootCause says fallback, the model is not asked', async () => {
    await server.stop()
    await start(100)
    const before = mock.requests.length
    const poor = await storeAnother('poor')
    expect((await lastSeen(poor, seen => seen.rootCause?.fallback === true)).rootCause).to.include({ mode: 'rules', fallback: true })
    expect((await poor()).dispatches.slack.status).to.equal('sent')
    expect(mock.requests.slice(before).filter(({ path }) => path.endsWith('/chat/completions'))).to.deep.equal([])
  })
})
