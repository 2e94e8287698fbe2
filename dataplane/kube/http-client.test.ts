import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../testing/fake-clock.ts'
import type { ApiFailure } from './api-failure.ts'
import { createHttpKubeClient } from './http-client.ts'
import type { KubeClient, WatchEvent } from './kube-client.ts'
import { createRateLimit } from './rate-limit.ts'
import { eventually } from './testing/eventually.ts'
import { type FakeApiServer, startFakeApiServer } from './testing/fake-api-server.ts'
import { CONFIG_MAPS, configMap, DEPLOYMENTS, deployment, WIDGETS } from './testing/resources.ts'

const SHOP = { namespace: 'shop', name: 'settings' }

describe('The client of the API server', () => {
  let server: FakeApiServer
  let clock: FakeClock
  let client: KubeClient
  let seen: string[]

  beforeEach(async () => {
    server = await startFakeApiServer([CONFIG_MAPS, DEPLOYMENTS])
    clock = createFakeClock()
    seen = []
    client = createHttpKubeClient(server.access, {
      clock,
      rateLimit: createRateLimit({ perSecond: 50, burst: 100 }, clock),
      userAgent: 'test',
      onRequest: ({ asked, status }) => void seen.push(`${asked.verb} ${asked.resource} ${status}`),
    })
  })
  afterEach(async () => {
    await client.close()
    await server.stop()
  })

  it('applies, gets, replaces and deletes', async () => {
    const applied = await client.apply(CONFIG_MAPS, configMap('settings', { a: '1' }), { force: true })
    if (!applied.ok) throw new Error(applied.failure.message)
    expect(applied.value.metadata.managedFields?.[0]).to.deep.include({
      manager: 'logpipeline-operator',
      operation: 'Apply',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    })
    const got = await client.get(CONFIG_MAPS, SHOP)
    expect(got.ok && got.value['data']).to.deep.equal({ a: '1' })
    const replaced = await client.replace(CONFIG_MAPS, { ...applied.value, data: { a: '2' } })
    expect(replaced.ok && replaced.value['data']).to.deep.equal({ a: '2' })
    const stale = await client.replace(CONFIG_MAPS, { ...applied.value, data: { a: '3' } })
    expect(failure(stale)).to.include({ status: 409, reason: 'Conflict' })
    expect(failure(await client.delete(CONFIG_MAPS, SHOP, { uid: 'another' }))).to.include({ status: 409 })
    expect(await client.delete(CONFIG_MAPS, SHOP, { uid: applied.value.metadata.uid! })).to.deep.equal({ ok: true, value: undefined })
    expect(await client.delete(CONFIG_MAPS, SHOP, {}), 'gone already').to.deep.equal({ ok: true, value: undefined })
    expect(failure(await client.get(CONFIG_MAPS, SHOP))).to.include({ status: 404, reason: 'NotFound' })
  })

  it('applies without force only where nobody else set another value', async () => {
    server.storage.create('configmaps', 'shop/settings', configMap('settings', { a: '1' }), 'kubectl')
    expect(failure(await client.apply(CONFIG_MAPS, configMap('settings', { a: '2' }), { force: false }))).to.include({ status: 409 })
    expect((await client.apply(CONFIG_MAPS, configMap('settings', { a: '2' }), { force: true })).ok).to.equal(true)
  })

  it('applies to the status alone, under the same manager', async () => {
    server.storage.create('deployments.apps', 'shop/web', deployment('web', { replicas: 1 }), 'kubectl')
    const answer = await client.applyStatus(DEPLOYMENTS, { ...deployment('web', {}), status: { readyReplicas: 1 } })
    if (!answer.ok) throw new Error(answer.failure.message)
    expect(answer.value).to.deep.include({ spec: { replicas: 1 }, status: { readyReplicas: 1 } })
    expect(answer.value.metadata.generation).to.equal(1)
    expect(answer.value.metadata.managedFields?.map(({ subresource }) => subresource)).to.deep.equal([undefined, 'status'])
  })

  it('lists in pages, and metadata alone where that is enough', async () => {
    for (const name of ['a', 'b', 'c']) server.storage.create('configmaps', `shop/${name}`, configMap(name, { x: '1' }), 'kubectl')
    const first = await client.list(CONFIG_MAPS, { limit: 2 })
    if (!first.ok) throw new Error(first.failure.message)
    expect(first.value.items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.deep.equal(['ConfigMap a', 'ConfigMap b'])
    const second = await client.list(CONFIG_MAPS, { limit: 2, continue: first.value.continue!, metadataOnly: true })
    if (!second.ok) throw new Error(second.failure.message)
    expect(second.value.items.map(({ kind, metadata, data }) => [kind, metadata.name, data])).to.deep.equal([['ConfigMap', 'c', undefined]])
    expect(second.value).not.to.have.property('continue')
    server.restart()
    expect(failure(await client.list(CONFIG_MAPS, { limit: 2, continue: first.value.continue! }))).to.include({ status: 410 })
  })

  it('watches, with bookmarks', async () => {
    const { events, stop } = await watch()
    server.storage.create('configmaps', 'shop/a', configMap('a', {}), 'kubectl')
    server.watches.bookmark()
    await eventually('two events', () => events.length === 2)
    expect(events.map(({ type }) => type)).to.deep.equal(['ADDED', 'BOOKMARK'])
    await stop()
  })

  const breaks = [
    { how: 'gone', expected: { status: 410, reason: 'Expired' } },
    { how: 'truncated', expected: { status: 0, reason: 'UnreadableAnswer' } },
    { how: 'reset', expected: { status: 0, reason: 'Unreachable' } },
  ] as const
  for (const { how, expected } of breaks)
    it(`tells of a watch that ended as ${how}`, async () => {
      const { events, ended } = await watch()
      server.watches.break(how)
      await ended
      const last = events.at(-1)
      expect(last?.type === 'ERROR' && last.failure).to.include(expected)
    })

  it('ends a watch without an error when the server ends it or we do', async () => {
    for (const end of [() => server.watches.break('ended'), undefined]) {
      const { events, ended, stop } = await watch()
      if (end === undefined) await stop()
      else end()
      await ended
      expect(events).to.deep.equal([])
    }
  })

  it('gives up a request that is not answered in time', async () => {
    server.fault({ verb: 'get' }, { kind: 'silence' })
    const answer = client.get(CONFIG_MAPS, SHOP, { timeoutMs: 5000 })
    await eventually('the request arrives', () => server.requests.length === 1)
    clock.advance(5000)
    expect(failure(await answer)).to.deep.equal({
      status: 0,
      reason: 'Timeout',
      message: 'cannot get configmaps settings in namespace shop: no answer within 5 s',
    })
  })

  it('gives up a request when its caller does', async () => {
    server.fault({ verb: 'get' }, { kind: 'silence' })
    const cut = new AbortController()
    const answer = client.get(CONFIG_MAPS, SHOP, { signal: cut.signal })
    await eventually('the request arrives', () => server.requests.length === 1)
    cut.abort()
    expect(failure(await answer)).to.include({ reason: 'Aborted' })
  })

  it('reads, and sends no write, while it may not write', async () => {
    let mayWrite = true
    const rateLimit = createRateLimit({ perSecond: 50, burst: 100 }, clock)
    const fenced = createHttpKubeClient(server.access, { clock, rateLimit, userAgent: 'test', mayWrite: () => mayWrite })
    expect((await fenced.apply(CONFIG_MAPS, configMap('settings'), { force: true })).ok).to.equal(true)
    mayWrite = false
    server.forgetRequests()
    expect(failure(await fenced.apply(CONFIG_MAPS, configMap('settings'), { force: true }))).to.include({ status: 0, reason: 'Aborted' })
    expect(failure(await fenced.delete(CONFIG_MAPS, SHOP, {})).message).to.contain('this process may not write now')
    expect((await fenced.get(CONFIG_MAPS, SHOP)).ok).to.equal(true)
    expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['get'])
    await fenced.close()
  })

  it('does nothing more once it is closed', async () => {
    server.fault({ verb: 'get' }, { kind: 'silence' })
    const answer = client.get(CONFIG_MAPS, SHOP)
    await eventually('the request arrives', () => server.requests.length === 1)
    await client.close()
    expect(failure(await answer)).to.include({ status: 0 })
    expect(failure(await client.get(CONFIG_MAPS, SHOP))).to.include({ status: 0, reason: 'Aborted' })
    expect(server.requests.length).to.be.at.most(2)
  })

  it('reports connections that break and answers that end early', async () => {
    const heal = server.fault({}, { kind: 'reset' }, 99)
    expect(failure(await client.get(CONFIG_MAPS, SHOP))).to.include({ status: 0, reason: 'Unreachable' })
    expect(failure(await client.apply(CONFIG_MAPS, configMap('a'), { force: true }))).to.include({ status: 0, reason: 'Unreachable' })
    expect(server.requests.map(({ verb }) => verb)).to.deep.equal(['get', 'get', 'patch'])
    heal()
    server.fault({ verb: 'list' }, { kind: 'truncate' })
    expect(failure(await client.list(CONFIG_MAPS, {}))).to.include({ status: 0, reason: 'UnreadableAnswer' })
  })

  const tooMany = (retryAfter: number, times = 1) =>
    server.fault({ verb: 'get' }, { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter }, times)

  it('waits as long as a 429 asks for, with this one request', async () => {
    tooMany(7)
    const first = client.get(CONFIG_MAPS, SHOP)
    await eventually('it waits', () => seen.length === 1 && clock.sleepers === 2)
    expect((await client.list(CONFIG_MAPS, {})).ok, 'all others go on').to.equal(true)
    clock.advance(6999)
    await eventually('it waits still', () => clock.sleepers === 2)
    expect(seen).to.deep.equal(['get configmaps 429', 'list configmaps 200'])
    clock.advance(1)
    expect(failure(await first)).to.include({ status: 404 })
  })

  it('hands a 429 on at once that asks for a longer wait than the request has time', async () => {
    tooMany(20)
    expect(failure(await client.get(CONFIG_MAPS, SHOP, { timeoutMs: 5000 }))).to.include({ status: 429, retryAfterMs: 20_000 })
    expect([server.requests.length, clock.sleepers]).to.deep.equal([1, 0])
  })

  it('counts the waits of all tries, and for its turn, as time of the request', async () => {
    tooMany(2, 99)
    const slow = client.get(CONFIG_MAPS, SHOP, { timeoutMs: 5000 })
    for (const tries of [1, 2]) {
      await eventually('it waits', () => seen.length === tries && clock.sleepers === 2)
      clock.advance(2000)
    }
    expect(failure(await slow)).to.include({ status: 429 })
    expect(server.requests).to.have.length(3)
    const rateLimit = createRateLimit({ perSecond: 0.01, burst: 1 }, clock)
    const late = createHttpKubeClient(server.access, { clock, rateLimit, userAgent: 'test' })
    expect((await late.list(CONFIG_MAPS, {})).ok).to.equal(true)
    const waiting = late.list(CONFIG_MAPS, {}, { timeoutMs: 5000 })
    await eventually('it waits for its turn', () => clock.sleepers === 2)
    clock.advance(5000)
    expect(failure(await waiting).message).to.equal('cannot list configmaps: its turn did not come within 5 s')
    await late.close()
  })

  it('ends a wait when its caller gives up', async () => {
    tooMany(20)
    const cut = new AbortController()
    const answer = client.get(CONFIG_MAPS, SHOP, { signal: cut.signal })
    await eventually('it waits', () => seen.length === 1 && clock.sleepers === 2)
    cut.abort()
    expect(failure(await answer)).to.include({ status: 429 })
    expect(clock.sleepers).to.equal(0)
  })

  it('hands a 429 on that does not end', async () => {
    tooMany(0, 99)
    expect(failure(await client.get(CONFIG_MAPS, SHOP))).to.include({ status: 429, retryAfterMs: 0 })
    expect(server.requests).to.have.length(5)
  })

  it('names the verb and resource that RBAC lacks', async () => {
    server.deny({ verb: 'patch', resource: 'deployments.apps' })
    const denied = failure(await client.apply(DEPLOYMENTS, deployment('web', {}), { force: true }))
    expect(denied).to.include({
      status: 403,
      reason: 'Forbidden',
      advice:
        'grant system:serviceaccount:logpipeline:operator the RBAC rule {apiGroups: ["apps"], resources: ["deployments"], verbs: ["patch"]} in namespace shop',
    })
  })

  for (const message of [
    'deployments.apps "web" is forbidden: exceeded quota: two, requested: count/deployments.apps=1',
    'admission webhook "images.example" denied the request: no latest',
    'deployments.apps "web" is forbidden: unable to create new content in namespace shop because it is being terminated',
  ])
    it(`advises no RBAC rule where none is lacking: ${message}`, async () => {
      server.fault({ verb: 'patch' }, { kind: 'status', code: 403, reason: 'Forbidden', message })
      const refused = failure(await client.apply(DEPLOYMENTS, deployment('web', {}), { force: true }))
      expect(refused).to.include({ status: 403 }).and.not.to.have.property('advice')
    })

  it('says which custom resource definition is missing', async () => {
    expect(failure(await client.list(WIDGETS, {})).advice).to.equal(
      'the API server does not know widgets.example.dev: install its custom resource definition',
    )
  })

  it('discovers which resources there are', async () => {
    expect(await client.discover()).to.deep.equal({ ok: true, value: [DEPLOYMENTS] })
    expect(await client.discover()).to.deep.equal({ ok: true, value: [DEPLOYMENTS] })
    server.addResource(WIDGETS)
    expect(await client.discover()).to.deep.equal({ ok: true, value: [DEPLOYMENTS, WIDGETS] })
    expect(seen).to.deep.equal(['get apis 200', 'get apis 304', 'get apis 200'])
  })

  async function watch() {
    const cut = new AbortController()
    const resourceVersion = String(server.storage.version)
    const answer = await client.watch(CONFIG_MAPS, { resourceVersion, timeoutSeconds: 300, signal: cut.signal })
    if (!answer.ok) throw new Error(answer.failure.message)
    const events: WatchEvent[] = []
    const read = async () => {
      for await (const event of answer.value) events.push(event)
    }
    const ended = read()
    const stop = () => {
      cut.abort()
      return ended
    }
    return { events, ended, stop }
  }
})

function failure(answer: { readonly ok: boolean; readonly failure?: ApiFailure }): ApiFailure {
  if (answer.failure === undefined) throw new Error('expected a failure, seen success')
  return answer.failure
}
