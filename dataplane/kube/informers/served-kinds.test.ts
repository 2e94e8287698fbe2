import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { eventually } from '../testing/eventually.ts'
import { CONFIG_MAPS, WIDGETS } from '../testing/resources.ts'
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts'
import { createObjectCache, type ObjectCache } from './object-cache.ts'
import { createServedKinds, type ServedKinds } from './served-kinds.ts'

const OLD = { ...WIDGETS, version: 'v1beta1' }
const KIND = { group: 'example.dev', kind: 'Widget', versions: ['v1', 'v1beta1'] }

describe('Optional kinds', () => {
  let cluster: TestCluster
  let cache: ObjectCache
  let kinds: ServedKinds
  let changes: number

  beforeEach(async () => {
    cluster = await startTestCluster([CONFIG_MAPS])
    changes = 0
    const { client, clock } = cluster
    cache = createObjectCache({ kinds: [], namespaces: [] }, { client, clock, log: SILENT, random: () => 0 })
    kinds = createServedKinds([KIND], { client, clock, log: SILENT, cache, onChange: () => void changes++ })
  })
  afterEach(async () => {
    await kinds.stop()
    await cache.stop()
    await cluster.stop()
  })
  const versions = () => kinds.current().map(({ version }) => version)
  /** Lets the next look come. */
  const passUntil = (what: string, holds: () => boolean) =>
    eventually(what, () => {
      if (!holds() && cluster.clock.sleepers > 0) cluster.clock.advance(500)
      return holds()
    })

  it('are known and listed from the start where the cluster has them', async () => {
    cluster.server.addResource(OLD)
    await kinds.start()
    expect(versions()).to.deep.equal(['v1beta1'])
    expect(cache.has(OLD)).to.equal(true)
  })

  it('are noticed when they appear, change their version, and go away', async () => {
    await kinds.start()
    expect(versions()).to.deep.equal([])
    cluster.server.addResource(OLD)
    await passUntil('it appears', () => versions().join() === 'v1beta1')
    cluster.server.addResource(WIDGETS)
    await passUntil('it changes', () => versions().join() === 'v1')
    cluster.server.removeResource(WIDGETS)
    await passUntil('it goes', () => versions().length === 0 && !cache.has(WIDGETS))
    expect(changes).to.equal(4)
  })

  it('stay as they were while the API server does not answer, and the first look waits for it', async () => {
    cluster.server.addResource(WIDGETS)
    const heal = cluster.server.fault({ verb: 'get' }, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, 3)
    const started = kinds.start()
    let isStarted = false
    void started.then(() => {
      isStarted = true
    })
    await passUntil('it started', () => isStarted)
    heal()
    cluster.server.fault({ verb: 'get' }, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, 99)
    cluster.clock.advance(60_000)
    await cluster.settle()
    expect(versions()).to.deep.equal(['v1'])
  })
})
