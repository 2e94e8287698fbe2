import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../dataplane/kube/object.ts'
import { keyOf, qualifiedName, type Resource } from '../dataplane/kube/resource.ts'
import { createHostileObjects, type HostileKind } from '../dataplane/testing/hostile/kubernetes-objects.ts'
import { mutateJson } from '../dataplane/testing/hostile/odd-values.ts'
import { SeededRandom } from '../dataplane/testing/hostile/seeded-random.ts'
import { readLogPipeline, readTicketingRoute } from './api/read-object.ts'
import type { Condition } from './api/status.ts'
import { LOG_PIPELINES, OPTIONAL_KINDS, SECRETS, TICKETING_ROUTES } from './controllers/kinds.ts'
import { planOf } from './desired/testing/build-pipeline.ts'
import { pipelineStatus } from './observed/conditions.ts'
import type { Gathered } from './observed/gathered.ts'
import { invalidPipelineStatus, invalidRouteStatus } from './observed/invalid-status.ts'
import { viewPipeline } from './observed/pipeline-view.ts'
import { routeStatus } from './observed/routes/route-status.ts'
import { ALL_SERVED, gatheredFrom } from './observed/testing/gathered-from.ts'
import { PIPELINE, SECRET } from './testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from './testing/operator-harness.ts'

const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_261_122)
const NOW = '2026-11-22T12:00:00Z'
const KINDS: Readonly<Record<HostileKind, Resource>> = { LogPipeline: LOG_PIPELINES, TicketingRoute: TICKETING_ROUTES }

describe('Custom resources that no CRD has looked at', () => {
  it('are planned, or refused with the field that is wrong, and never throw', function () {
    this.timeout(60_000)
    const hostile = createHostileObjects(SEED)
    let usable = 0
    for (let n = 0; n < 400; n++) {
      const routes = [1, 2].map(() => readTicketingRoute(hostile.next('TicketingRoute', 'r', 'shop')))
      const pipeline = readLogPipeline(hostile.next('LogPipeline', 'p', 'shop'))
      for (const { problems = [] } of [pipeline, ...routes])
        for (const problem of problems) expect(problem).to.match(/^(spec(: |[.[])|and \d+ more)/)
      const usableRoutes = routes.filter(({ problems }) => problems === undefined)
      const gathered: Gathered = {
        pipeline,
        routes: usableRoutes,
        secrets: { search: SECRET },
        externalSecrets: {},
        sharers: [],
        hasEncryptionKey: false,
        budgets: [],
        otherBudgets: [],
        topics: [],
        workloads: {},
        autoscalers: {},
        pods: [],
        servedApis: ALL_SERVED,
        problems: [],
      }
      for (const route of routes) {
        const status =
          route.problems === undefined
            ? routeStatus({ route, pipelines: [pipeline], read: gathered, agentsOf: () => [], isThere: () => false, now: NOW })
            : invalidRouteStatus(route, NOW)
        expectSound(status.conditions)
      }
      if (pipeline.problems !== undefined) {
        expectSound(invalidPipelineStatus(pipeline, NOW).conditions)
        continue
      }
      usable += 1
      const { facts, objects } = planOf({ gathered, settings: { image: 'logpipeline:1' } })
      expect(JSON.stringify(objects).length).to.be.below(20_000_000)
      expectSound(pipelineStatus({ view: viewPipeline(gathered), desired: facts, now: NOW }).conditions)
    }
    expect(usable, 'some are sound in spite of it').to.be.within(20, 380)
  })

  it('are read beside objects of other operators that hold anything, and nothing throws', () => {
    const random = new SeededRandom(SEED + 2)
    const conditions = [{ type: 'Ready', status: 'True', reason: 'SecretSynced', message: 'm', lastTransitionTime: NOW }]
    const listeners = [{ name: 'tls', bootstrapServers: 'kafka:9093', certificates: ['-----BEGIN CERTIFICATE-----'] }]
    const named = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, metadata: { name, namespace: 'shop' } })
    const sound: readonly (KubernetesObject & { readonly spec?: unknown; readonly status: unknown })[] = [
      {
        ...named('external-secrets.io/v1', 'ExternalSecret', 'ext'),
        spec: { target: { name: 'search' } },
        status: { conditions, binding: { name: 'search' } },
      },
      { ...named('kafka.strimzi.io/v1beta2', 'Kafka', 'kafka'), status: { conditions, listeners } },
      {
        ...named('kafka.strimzi.io/v1beta2', 'KafkaTopic', 'topic'),
        spec: { topicName: 'shop.shop.raw-logs' },
        status: { conditions, observedGeneration: 1 },
      },
    ]
    const slimOf = (kind: string) => OPTIONAL_KINDS.find(optional => optional.kind === kind)!.slim ?? (object => object)
    const spec = {
      ...(PIPELINE['spec'] as object),
      bus: { strimzi: { cluster: 'kafka' } },
      search: { endpoint: 'https://search', credentials: { externalSecret: { name: 'ext' } } },
    }
    const pipeline = { ...PIPELINE, spec }
    const reasons = new Set<string>()
    for (let n = 0; n < 600; n++) {
      const foreign = sound.map(({ spec: given, status, ...rest }) => {
        const [oddSpec, oddStatus] = n === 0 ? [given, status] : [mutateJson(given, random, 0.3), mutateJson(status, random, 0.3)]
        return slimOf(rest.kind)({ ...rest, spec: oddSpec, status: oddStatus } as KubernetesObject)
      })
      const gathered = gatheredFrom([pipeline, SECRET, ...foreign])
      const { facts } = planOf({ gathered, settings: { image: 'logpipeline:1' } })
      const { conditions: told = [] } = pipelineStatus({ view: viewPipeline(gathered), desired: facts, now: NOW })
      expectSound(told)
      const reasonOf = (type: string) => told.find(condition => condition.type === type)?.reason
      if (n === 0) expect([reasonOf('SecretsSynced'), reasonOf('BusReady')]).to.deep.equal(['Synced', 'TopicNotReady'])
      reasons.add(`${reasonOf('SecretsSynced')} ${reasonOf('BusReady')}`)
    }
    expect([...reasons]).to.include.members(['Synced TopicNotReady', 'SecretNotSynced KafkaNotReady'])
  })

  it('are refused with a tenant that is no tenant id: it becomes labels and settings', () => {
    for (const tenant of ['BAD TENANT', 'shop_1', '-shop', ''])
      expect(readLogPipeline({ ...PIPELINE, spec: { mode: 'AllInOne', tenant } }).problems?.join()).to.match(
        /^spec\.tenant: expected a tenant id/,
      )
  })

  it('get a status that names the field, and hold up no other', async function () {
    this.timeout(60_000)
    const harness = await startOperatorHarness()
    try {
      await liveThrough(harness)
    } finally {
      await harness.close()
    }
  })
})

/** The API server of the tests takes minutes for larger ones; etcd takes none above 1.5 MiB. */
const MAX_LIVE_CHARACTERS = 30_000

async function liveThrough(harness: OperatorHarness): Promise<void> {
  const { server } = harness
  const hostile = createHostileObjects(SEED + 1)
  const next = (kind: HostileKind, name: string): KubernetesObject => {
    const object = hostile.next(kind, name, 'shop')
    return JSON.stringify(object).length > MAX_LIVE_CHARACTERS ? next(kind, name) : object
  }
  const create = (resource: Resource, object: KubernetesObject) =>
    server.storage.create(qualifiedName(resource), keyOf(object.metadata), object, 'kubectl')
  create(SECRETS, SECRET)
  const names = Array.from({ length: 8 }, (_, n) => `bad-${n}`)
  const each = Object.entries(KINDS).flatMap(([kind, resource]) => names.map(name => ({ kind: kind as HostileKind, resource, name })))
  for (const { kind, resource, name } of each) create(resource, next(kind, name))
  create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'good', namespace: 'shop' } })
  const operator = await harness.run()
  let why: unknown
  operator.failed.catch(error => {
    why = error
  })
  const deployments = () => server.storage.list('deployments.apps').map(({ metadata }) => metadata.name)
  await harness.passUntil('the good one is made', () => deployments().filter(name => name.startsWith('good-')).length === 4)
  const expectTold = () => {
    for (const { resource, name } of each) {
      const { conditions } = server.storage.get(qualifiedName(resource), `shop/${name}`)['status'] as { readonly conditions: Condition[] }
      expectSound(conditions)
      const ready = conditions.find(({ type }) => type === 'Ready')!
      if (ready.reason === 'InvalidSpec') expect(ready.message).to.match(/^spec(: |[.[])/)
    }
  }
  await harness.settle(40_000)
  expectTold()
  for (const { kind, resource, name } of each) {
    const { resourceVersion: _, ...metadata } = server.storage.get(qualifiedName(resource), `shop/${name}`).metadata
    server.storage.update(qualifiedName(resource), `shop/${name}`, { ...next(kind, name), metadata }, 'kubectl')
  }
  server.storage.delete('deployments.apps', 'shop/good-bridge')
  await harness.passUntil('the good one is put back', () => deployments().includes('good-bridge'))
  await harness.settle(40_000)
  expectTold()
  for (const { resource, name } of each) server.storage.delete(qualifiedName(resource), `shop/${name}`)
  await harness.settle()
  expect(why).to.equal(undefined)
  expect(harness.errors(), 'nothing was thrown').to.deep.equal([])
}

function expectSound(conditions: readonly Condition[] = []): void {
  expect(conditions.map(({ type }) => type)).to.include('Ready')
  for (const { type, message, reason } of conditions) {
    expect(`${type}: ${message}`.isWellFormed()).to.equal(true)
    expect(message.length).to.be.at.most(2000)
    expect(reason).to.match(/^[A-Za-z]+$/)
  }
}
