/** The client of the Kubernetes project in TypeScript, as users of LogPipelines have it in programs of their own. */
import {
  ApiException,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
} from '@kubernetes/client-node'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { z } from 'zod'
import { until } from '../dataplane/testing/cluster/kubectl.ts'
import type { LOG_PIPELINE_SPEC } from './api/log-pipeline.ts'
import type { LogPipelineStatus, TicketingRouteStatus } from './api/status.ts'
import type { TICKETING_ROUTE_SPEC } from './api/ticketing-route.ts'
import { type ClusterSuite, openClusterSuite } from './testing/cluster-suite.ts'

export const needs = ['kubernetes']

interface LogPipeline extends KubernetesObject {
  spec: z.input<typeof LOG_PIPELINE_SPEC>
  status?: LogPipelineStatus
}

interface TicketingRoute extends KubernetesObject {
  spec: z.input<typeof TICKETING_ROUTE_SPEC>
  status?: TicketingRouteStatus
}

describe('A program with @kubernetes/client-node', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let custom: CustomObjectsApi
  let objects: KubernetesObjectApi
  let informer: Informer<LogPipeline>
  /** As the watch tells them; of `shop` alone. */
  const seen: LogPipeline[] = []
  const gone: string[] = []
  const where = () => ({ group: 'logpipeline.dev', version: 'v1alpha1', namespace: suite.namespace, plural: 'logpipelines' })

  before(async () => {
    suite = await openClusterSuite('client-node')
    await suite.startOperator()
    const config = new KubeConfig()
    config.loadFromFile(suite.kubectl.kubeconfig)
    custom = config.makeApiClient(CustomObjectsApi)
    objects = KubernetesObjectApi.makeApiClient(config)
    const list = (): Promise<KubernetesListObject<LogPipeline>> => custom.listNamespacedCustomObject(where())
    informer = makeInformer(config, `/apis/logpipeline.dev/v1alpha1/namespaces/${suite.namespace}/logpipelines`, list)
    informer.on('change', pipeline => void seen.push(pipeline))
    informer.on('delete', ({ metadata }) => void gone.push(metadata!.name!))
    await informer.start()
  })
  after(async () => {
    await informer?.stop()
    await suite?.close()
  })

  const SHOP: LogPipeline['spec'] = {
    tenant: 'shop',
    bus: { bootstrapServers: ['kafka:9092'] },
    search: { endpoint: 'https://search:9200', credentials: { secret: { name: 'search' } } },
    bridge: { replicas: 1 },
  }
  const pipeline = (spec: LogPipeline['spec']): LogPipeline => ({
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'LogPipeline',
    metadata: { name: 'shop', namespace: suite.namespace },
    spec,
  })
  const newest = () => seen.findLast(({ metadata }) => metadata?.name === 'shop')
  const isReady = (object: LogPipeline | undefined) =>
    object?.status?.observedGeneration === object?.metadata?.generation &&
    object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

  it('creates a LogPipeline from a typed object, and watches it until it is Ready', async () => {
    const created: LogPipeline = await custom.createNamespacedCustomObject({ ...where(), body: pipeline(SHOP) })
    expect(created.spec).to.deep.include({ mode: 'Distributed', tenant: 'shop' })
    await until('the informer has seen it Ready', async () => isReady(newest()) || undefined)
    expect(newest()!.status?.endpoints).to.have.property('otlpGrpc')
  })

  it('is told which field is wrong', async () => {
    const wrong = pipeline({ ...SHOP, bus: { bootstrapServers: ['kafka:9092'], strimzi: { cluster: 'k' } } })
    const refusal = await custom
      .createNamespacedCustomObject({ ...where(), body: { ...wrong, metadata: { name: 'wrong' } } })
      .catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(ApiException)
    expect((refusal as ApiException<string>).code).to.equal(422)
    expect((refusal as ApiException<string>).body).to.contain('expected exactly one of bootstrapServers and strimzi')
  })

  it('scales the bridge', async () => {
    const scale = await custom.getNamespacedCustomObjectScale({ ...where(), name: 'shop' })
    const wanted = { ...scale, spec: { replicas: 3 } }
    await custom.replaceNamespacedCustomObjectScale({ ...where(), name: 'shop', body: wanted })
    await until('three bridges are ready', async () => (isReady(newest()) && newest()!.status?.replicas === 3) || undefined)
    expect(newest()!.spec.bridge?.replicas).to.equal(3)
    expect(newest()!.status?.components?.['bridge']).to.include({ desired: 3, ready: 3 })
  })

  it('creates a TicketingRoute and reads whether it was accepted', async () => {
    const route: TicketingRoute = {
      apiVersion: 'logpipeline.dev/v1alpha1',
      kind: 'TicketingRoute',
      metadata: { name: 'on-call', namespace: suite.namespace },
      spec: { severities: ['critical'], platform: 'pagerduty', credentials: { secret: { name: 'pagerduty' } } },
    }
    await objects.create(route)
    const read = await until('the route has a status', async () => {
      const { apiVersion, kind, metadata } = route
      const found = await objects.read<TicketingRoute>({ apiVersion: apiVersion!, kind: kind!, metadata: metadata as { name: string } })
      return found.status?.pipelines === undefined ? undefined : found
    })
    expect(read.status?.pipelines).to.deep.equal(['shop'])
    expect(read.status?.conditions?.find(({ type }) => type === 'CredentialsReady')?.reason).to.equal('MissingSecret')
  })

  it('deletes the LogPipeline, and hears of it', async () => {
    await custom.deleteNamespacedCustomObject({ ...where(), name: 'shop' })
    await until('the informer has seen it go', async () => gone.includes('shop') || undefined)
  })
})
