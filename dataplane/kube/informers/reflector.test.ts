import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createHttpKubeClient } from '../http-client.ts'
import type { KubeClient } from '../kube-client.ts'
import type { KubernetesObject } from '../object.ts'
import { createRateLimit } from '../rate-limit.ts'
import { eventually } from '../testing/eventually.ts'
import { type FakeApiServer, startFakeApiServer } from '../testing/fake-api-server.ts'
import { CONFIG_MAPS, configMap, WIDGETS } from '../testing/resources.ts'
import { ObjectStore } from './object-store.ts'
import { Reflector, type ReflectorConfig } from './reflector.ts'

describe('Reflector', () => {
  let server: FakeApiServer
  let clock: FakeClock
  let client: KubeClient
  let store: ObjectStore
  let reflector: Reflector
  let restarts: string[]
  let answers = 0

  beforeEach(async () => {
    server = await startFakeApiServer([CONFIG_MAPS])
    clock = createFakeClock()
    answers = 0
    client = createHttpKubeClient(server.access, {
      clock,
      rateLimit: createRateLimit({ perSecond: 1e6, burst: 1e6 }, clock),
      userAgent: 'test',
      onRequest: () => void answers++,
    })
  })
  afterEach(async () => {
    await reflector.stop()
    await client.close()
    await server.stop()
  })

  const start = (config: Partial<ReflectorConfig> = {}, asked: Pick<KubeClient, 'list' | 'watch'> = client) => {
    store = new ObjectStore()
    restarts = []
    const onRestart = (reason: string) => void restarts.push(reason)
    reflector = new Reflector({ resource: CONFIG_MAPS, ...config }, store, {
      client: asked,
      clock,
      log: SILENT,
      random: () => 0,
      onRestart,
    })
    reflector.start()
  }
  const create = (name: string, labels?: Record<string, string>) =>
    server.storage.create('configmaps', `shop/${name}`, configMap(name, {}, labels), 'kubectl')
  const names = () => store.list().map(({ metadata }) => metadata.name)
  const verbs = () => server.requests.map(({ verb }) => verb)
  const watching = (kind = 'configmaps') =>
    eventually('it watches', () => server.watches.countOf(kind) === 1 && reflector.state === 'watching')
  const holds = (...expected: string[]) => eventually(`it holds ${expected}`, () => names().join() === expected.join())
  /** Lets time pass whenever somebody waits for it, up to so many times. */
  const passTime = async (ms: number, until: () => boolean) => {
    await eventually('waiting and time passing', () => {
      if (!until() && clock.sleepers > 0) clock.advance(ms)
      return until()
    })
  }

  it('lists everything in pages, then watches from there', async () => {
    for (let n = 0; n < 1203; n++) create(`c${n}`)
    start()
    await reflector.synced
    await watching()
    expect(store.size).to.equal(1203)
    expect(verbs()).to.deep.equal(['list', 'list', 'list', 'watch'])
    create('new')
    server.storage.delete('configmaps', 'shop/c7')
    await eventually('both changes', () => store.get('shop/new') !== undefined && store.get('shop/c7') === undefined)
    expect(verbs(), 'no request for the changes').to.have.length(4)
  })

  it('keeps to its selection, and only what is wanted of each object', async () => {
    create('mine', { app: 'web' })
    create('other', { app: 'db' })
    start({ selection: { labelSelector: 'app=web', metadataOnly: true }, slim: object => ({ ...object, kept: true }) })
    await watching()
    expect(store.list()).to.have.length(1)
    expect(store.get('shop/mine')).to.include({ kept: true, kind: 'ConfigMap' }).and.not.have.property('data')
    server.storage.patch('configmaps', 'shop/mine', { metadata: { labels: { app: 'db' } } }, 'kubectl')
    await holds()
  })

  it('goes on from the last bookmark when the server ends the watch', async () => {
    start()
    await watching()
    server.storage.compact()
    server.watches.bookmark()
    create('a')
    await holds('a')
    for (let minute = 1; minute <= 5; minute++) {
      clock.advance(60_000)
      server.storage.compact()
      server.watches.bookmark()
      create(`m${minute}`)
      await eventually('the event after the bookmark', () => store.size === minute + 1)
    }
    server.watches.break('ended')
    await watching()
    create('b')
    await holds('a', 'm1', 'm2', 'm3', 'm4', 'm5', 'b')
    expect(verbs()).to.deep.equal(['list', 'watch', 'watch'])
  })

  it('lists again on 410 in the stream, and notices what was deleted meanwhile', async () => {
    create('a')
    start()
    await watching()
    clock.advance(60_000)
    server.watches.break('silent')
    server.storage.delete('configmaps', 'shop/a')
    create('b')
    server.watches.break('gone')
    await holds('b')
    await watching()
    expect(restarts).to.deep.equal(['Expired'])
    expect(verbs()).to.deep.equal(['list', 'watch', 'list', 'watch'])
  })

  it('lists again on 410 as the answer to the watch', async () => {
    start()
    server.fault({ verb: 'watch' }, { kind: 'status', code: 410, reason: 'Expired' })
    await passTime(100, () => server.watches.count === 1)
    expect(verbs()).to.deep.equal(['list', 'watch', 'list', 'watch'])
  })

  it('lists all in one page when pages expire again and again', async () => {
    for (let n = 0; n < 501; n++) create(`c${n}`)
    server.fault({ verb: 'list' }, { kind: 'status', code: 410, reason: 'Expired' }, 2)
    start()
    await passTime(100, () => reflector.hasSynced)
    expect(server.requests.map(({ url }) => url.searchParams.get('limit')).slice(0, 3)).to.deep.equal(['500', '500', null])
    expect(store.size).to.equal(501)
  })

  it('notices a silent watch by its idle timer and goes on from where it was', async () => {
    start()
    await watching()
    server.watches.break('silent')
    create('a')
    clock.advance(74_999)
    expect(names()).to.deep.equal([])
    clock.shiftTimeOfDay(-3_600_000)
    clock.advance(1)
    await holds('a')
    expect(restarts).to.deep.equal(['silent'])
    expect(verbs(), 'the second list is the version alone').to.deep.equal(['list', 'watch', 'list', 'watch'])
    expect(server.requests[2]!.url.searchParams.get('limit')).to.equal('1')
  })

  it('asks for nothing but the watch again where nothing ever happens', async () => {
    start()
    for (let n = 1; n <= 4; n++) {
      await eventually('it watches', () => verbs().filter(verb => verb === 'watch').length === n && answers === verbs().length)
      clock.advance(75_000)
      await eventually('it watches anew', () => verbs().filter(verb => verb === 'watch').length === n + 1)
    }
    expect(
      verbs().filter(verb => verb === 'list'),
      'all, and once the version',
    ).to.have.length(2)
  })

  for (const how of ['reset', 'ended', 'silent'] as const)
    it(`holds what there is when etcd was set back while its watch was ${how}, deleted objects no more`, async () => {
      create('old')
      const restore = server.storage.backUp()
      create('new')
      start()
      await watching()
      server.storage.patch('configmaps', 'shop/old', { data: { a: 'changed' } }, 'kubectl')
      await eventually('the change', () => JSON.stringify(store.get('shop/old')?.['data']) === '{"a":"changed"}')
      clock.advance(60_000)
      server.watches.break('silent')
      restore()
      if (how === 'silent') clock.advance(75_000)
      else server.watches.break(how)
      await passTime(100, () => restarts.includes('SetBack') && reflector.state === 'watching')
      await holds('old')
      expect(store.get('shop/old')?.['data']).to.deep.equal({})
      await watching()
      create('later')
      await holds('old', 'later')
    })

  it('takes bookmarks for a sign of life', async () => {
    start()
    await watching()
    for (let minute = 1; minute <= 10; minute++) {
      clock.advance(60_000)
      server.storage.compact()
      server.watches.bookmark()
      create(`m${minute}`)
      await eventually('the event after the bookmark', () => store.size === minute)
    }
    expect(restarts).to.deep.equal([])
  })

  for (const how of ['truncated', 'reset'] as const)
    it(`goes on after a watch whose stream was ${how}`, async () => {
      start()
      await watching()
      clock.advance(60_000)
      server.watches.break('silent')
      create('a')
      server.watches.break(how)
      await passTime(100, () => names().join() === 'a')
      expect(restarts).to.have.length(1)
      expect(verbs(), 'the second list is the version alone').to.deep.equal(['list', 'watch', 'list', 'watch'])
    })

  it('backs off while the API server is away, never gives up, and recovers', async () => {
    const heal = server.fault({}, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, Number.POSITIVE_INFINITY)
    start()
    for (const [n, waitMs] of [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000].entries()) {
      await eventually('it waits after the answer', () => answers === n + 1 && clock.sleepers === 1)
      clock.advance(waitMs - 1)
      expect(clock.sleepers, `${waitMs} ms are not over`).to.equal(1)
      clock.advance(1)
    }
    expect(reflector.state).to.equal('failing')
    expect(reflector.failure).to.include({ status: 503 })
    expect(reflector.hasSynced).to.equal(false)
    heal()
    await passTime(1000, () => reflector.state === 'watching')
    expect(reflector.failure).to.equal(undefined)
  })

  it('says which permission it lacks and goes on once it has it', async () => {
    const grant = server.deny({ verb: 'watch' })
    start()
    await eventually('it fails', () => reflector.state === 'failing')
    expect(reflector.failure?.advice).to.contain('verbs: ["watch"]')
    grant()
    await passTime(100, () => reflector.state === 'watching')
  })

  describe('of a kind whose definition was updated', () => {
    const NEW_FIELD = { data: { old: '1', new: '2' } }
    const withoutNew = (object: KubernetesObject) => ({ ...object, data: { old: '1' } })
    const createWhole = (name: string) => server.storage.create('configmaps', `shop/${name}`, configMap(name, NEW_FIELD.data), 'kubectl')

    it('lists again when a watch that began before leaves out a field: the object is never held without it', async () => {
      start({ isWhole: true })
      await watching()
      const seen: unknown[] = []
      store.onChange(({ after }) => void seen.push(after?.['data']))
      clock.advance(60_000)
      server.watches.outdate('configmaps', withoutNew)
      createWhole('a')
      await holds('a')
      await watching()
      createWhole('b')
      await holds('a', 'b')
      expect(seen).to.deep.equal([NEW_FIELD.data, NEW_FIELD.data])
      expect(restarts).to.deep.equal(['Outdated'])
      expect(verbs()).to.deep.equal(['list', 'watch', 'list', 'watch'])
    })

    it('takes an object as it is when the list lacks the field, too, as after a return to an earlier definition', async () => {
      const { metadata } = createWhole('a')
      const listed = { ...client, list: async (...asked: Parameters<KubeClient['list']>) => prune(await client.list(...asked)) }
      const prune = (answer: Awaited<ReturnType<KubeClient['list']>>) =>
        answer.ok ? { ...answer, value: { ...answer.value, items: answer.value.items.map(withoutNew) } } : answer
      start({ isWhole: true }, listed)
      await watching()
      server.watches.outdate('configmaps', withoutNew)
      server.storage.patch('configmaps', 'shop/a', { metadata: { labels: { a: 'b' } } }, 'kubectl')
      await eventually('the change', () => store.get('shop/a')?.metadata.resourceVersion !== metadata.resourceVersion)
      expect(verbs()).to.deep.equal(['list', 'watch'])
      expect(store.get('shop/a')?.['data']).to.deep.equal({ old: '1' })
    })
  })

  it('survives a restart of the API server', async () => {
    create('a')
    start()
    await watching()
    clock.advance(60_000)
    server.restart()
    create('b')
    await passTime(100, () => reflector.state === 'watching' && names().join() === 'a,b')
  })

  it('forgets the objects of a kind whose definition is deleted, and has them again when it is back', async () => {
    server.addResource(WIDGETS)
    const widget = { ...configMap('w'), kind: 'Widget', apiVersion: 'example.dev/v1' }
    server.storage.create('widgets.example.dev', 'shop/w', widget, 'kubectl')
    start({ resource: WIDGETS })
    await watching('widgets.example.dev')
    clock.advance(60_000)
    server.removeResource(WIDGETS)
    await passTime(100, () => reflector.state === 'absent')
    expect(names()).to.deep.equal([])
    server.addResource(WIDGETS)
    server.storage.create('widgets.example.dev', 'shop/w2', { ...widget, metadata: { ...widget.metadata, name: 'w2' } }, 'kubectl')
    await passTime(100, () => names().join() === 'w2')
  })

  it('keeps waiting for a kind that it needs', async () => {
    start({ resource: WIDGETS })
    await eventually('it fails', () => reflector.state === 'absent')
    expect(reflector.hasSynced).to.equal(false)
    expect(reflector.failure?.advice).to.contain('install its custom resource definition')
    server.addResource(WIDGETS)
    await passTime(100, () => reflector.state === 'watching')
  })

  it('goes on after an object that cannot be taken in', async () => {
    create('a')
    let isSound = true
    start({
      slim: object => {
        if (!isSound) throw new Error('no such field')
        return object
      },
    })
    await watching()
    isSound = false
    create('b')
    await eventually('it is in trouble', () => server.watches.count === 0)
    isSound = true
    await passTime(100, () => names().join() === 'a,b')
  })

  it('stops at once, whatever it waits for', async () => {
    server.fault({ verb: 'list' }, { kind: 'silence' })
    start()
    await eventually('it asked', () => server.requests.length === 1)
    await reflector.stop()
    expect(store.size).to.equal(0)
  })
})
