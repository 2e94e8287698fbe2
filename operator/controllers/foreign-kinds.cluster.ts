import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse } from 'yaml'
import { TOPICS } from '../../dataplane/contract/topics.ts'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { downloadModule } from '../../dataplane/testing/real/go-tools.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, installCrds, isOwnCluster, openClusterSuite } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

const DOWNLOAD_MS = 120_000
/** The operator looks every 10 s, and watches of kinds that went away are tried again more and more seldom. */
const LOOK_MS = 60_000

/** CRDs as their operators ship them, by module. */
const SHIPPED: Readonly<Record<string, readonly string[]>> = {
  'github.com/kedacore/keda/v2@v2.16.1': ['scaledobjects', 'triggerauthentications'].map(kind => `config/crd/bases/keda.sh_${kind}.yaml`),
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': ['servicemonitors', 'prometheusrules'].map(
    kind => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  ),
}

/** CRDs of Strimzi, which ships as Java: the names are Strimzi's, and any content is valid. */
const strimziCrds = (): readonly ClusterObject[] =>
  ['Kafka', 'KafkaTopic'].map(kind => {
    const plural = `${kind.toLowerCase()}s`
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } }
    const versions = ['v1', 'v1beta2'].map(name => ({ name, served: true, storage: name === 'v1', schema, subresources: { status: {} } }))
    const spec = { group: 'kafka.strimzi.io', scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() }, versions }
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.kafka.strimzi.io` },
      spec,
    }
  })

const SPEC = {
  bus: { strimzi: { cluster: 'events' } },
  bridge: { autoscaling: { minReplicas: 1, maxReplicas: 3, keda: true } },
  monitoring: { serviceMonitor: true, rules: true },
}

describe('Kinds of other operators on a real API server', function () {
  this.timeout(180_000)
  let suite: ClusterSuite
  let crds: readonly ClusterObject[]
  let operator: OperatorProcess
  before(async () => {
    suite = await openClusterSuite('foreign')
    const shipped: ClusterObject[] = []
    for (const [module, files] of Object.entries(SHIPPED)) {
      const directory = await downloadModule(module, DOWNLOAD_MS)
      for (const file of files) shipped.push(parse(readFileSync(join(directory, file), 'utf8')))
    }
    crds = [...shipped, ...strimziCrds()]
    operator = await suite.startOperator()
  })
  after(async () => {
    for (const { metadata } of crds ?? []) await suite.objects.remove('CustomResourceDefinition', metadata.name)
    await suite.close()
  })

  const owned = async () => {
    const kinds = ['KafkaTopic', 'ScaledObject', 'ServiceMonitor', 'PrometheusRule']
    const found = await Promise.all(kinds.map(kind => suite.objects.list(kind, 'app.kubernetes.io/instance=shop')))
    return Object.fromEntries(kinds.map((kind, index) => [kind, found[index]!.length]))
  }

  it('that are not there are named where they are needed, and not missed where they only help', async () => {
    const { objects } = suite
    await objects.apply({
      ...suite.pipeline('shop'),
      spec: { mode: 'Distributed', tenant: 'shop', search: { endpoint: 'https://search:9200' }, ...SPEC },
    })
    const lacking = await objects.condition('LogPipeline', 'shop', 'Stalled', 'StrimziNotInstalled')
    expect(conditionOf(lacking, 'AutoscalingReady').reason).to.equal('KedaNotInstalled')
    expect(conditionOf(lacking, 'ObjectsApplied').status).to.equal('True')
    await objects.condition('LogPipeline', 'shop', 'TicketingAvailable', 'Available')
  })

  it('that appear while it runs are used without a restart', async () => {
    const { objects, namespace } = suite
    await installCrds(objects, crds)
    const kafka = { apiVersion: 'kafka.strimzi.io/v1', kind: 'Kafka', metadata: { name: 'events', namespace }, spec: {} }
    await objects.apply(kafka)
    const waiting = await objects.condition('LogPipeline', 'shop', 'BusReady', 'KafkaNotReady', LOOK_MS)
    expect(conditionOf(waiting, 'BusReady').message).to.equal('Kafka events is not ready: no status yet')
    const listeners = [{ name: 'plain', bootstrapServers: 'events-kafka-bootstrap:9092' }]
    await objects.patch('Kafka', 'events', { status: { conditions: [{ type: 'Ready', status: 'True' }], listeners } }, 'status')
    await objects.condition('LogPipeline', 'shop', 'BusReady', 'TopicNotReady')
    const topics = await objects.list('KafkaTopic', 'app.kubernetes.io/instance=shop')
    expect(topics.map(({ spec }) => spec.topicName)).to.have.members(
      Object.values(TOPICS).map(({ name }) => `${suite.namespace}.shop.${name}`),
    )
    for (const { metadata } of topics) {
      expect(metadata.labels).to.include({ 'strimzi.io/cluster': 'events' })
      const ready = { observedGeneration: metadata.generation, conditions: [{ type: 'Ready', status: 'True' }] }
      await objects.patch('KafkaTopic', metadata.name, { status: ready }, 'status')
    }
    await objects.condition('LogPipeline', 'shop', 'Ready', 'True', LOOK_MS)
    expect(await owned()).to.deep.equal({ KafkaTopic: topics.length, ScaledObject: 1, ServiceMonitor: 1, PrometheusRule: 1 })
    const [{ env }] = (await objects.get('Deployment', 'shop-collector')).spec.template.spec.containers
    expect(env.find(({ name }: ClusterObject) => name === 'BUS_BROKERS').value).to.equal('events-kafka-bootstrap:9092')
    const scaled = await objects.get('ScaledObject', 'shop-bridge')
    expect(scaled.metadata.managedFields[0]).to.include({ manager: 'logpipeline-operator', operation: 'Apply' })
    const broken = [{ type: 'Ready', status: 'False', reason: 'ScaledObjectCheckFailed', message: 'cannot ask the brokers' }]
    await objects.patch('ScaledObject', 'shop-bridge', { status: { conditions: broken } }, 'status')
    const told = await objects.condition('LogPipeline', 'shop', 'AutoscalingReady', 'ScaledObjectCheckFailed', LOOK_MS)
    expect(conditionOf(told, 'AutoscalingReady').message).to.contain('seen: cannot ask the brokers')
    await objects.remove('ServiceMonitor', 'shop')
    await objects.until('it is put back', 'ServiceMonitor', 'shop', () => true)
  })

  it('that are taken away while it runs are told, and what runs keeps running', async () => {
    const { objects } = suite
    const { uid } = (await objects.get('Deployment', 'shop-bridge')).metadata
    for (const { metadata } of crds) await objects.remove('CustomResourceDefinition', metadata.name)
    const lacking = await objects.condition('LogPipeline', 'shop', 'Stalled', 'StrimziNotInstalled', LOOK_MS)
    expect(conditionOf(lacking, 'AutoscalingReady').reason).to.equal('KedaNotInstalled')
    expect(conditionOf(lacking, 'BridgeAvailable')).to.include({ status: 'True', reason: 'Available' })
    expect((await objects.get('Deployment', 'shop-bridge')).metadata).to.include({ uid })
    await suite.ready('beside')
  })

  it('and its own: deleted while it runs, it writes nothing more; back again, it goes on', async function () {
    if (!isOwnCluster()) this.skip()
    const { objects, kubectl } = suite
    const own = ['logpipelines.logpipeline.dev', 'ticketingroutes.logpipeline.dev']
    for (const name of own) await kubectl.remove('crd', name)
    // The garbage collector removes the pipelines' objects, and takes its time once it no longer knows the kind.
    const goneMs = Date.now()
    await until('it has noticed', () => /resource":"logpipelines.logpipeline.dev","reason":"NotFound"/.test(operator.output()), LOOK_MS)
    expect(operatorWrites(goneMs, suite.namespace)).to.deep.equal([])
    expect((await fetch(`${operator.url}/healthz`)).status).to.equal(200)
    await suite.installOwnCrds()
    await objects.apply(suite.pipeline('again'))
    await objects.condition('LogPipeline', 'again', 'Ready', 'True', LOOK_MS)
  })

  it('and its own: missing at the start, it says so and begins as they appear', async function () {
    if (!isOwnCluster()) this.skip()
    const { objects, kubectl } = suite
    await kubectl.remove('crd', 'logpipelines.logpipeline.dev')
    const late = await suite.startOperator()
    const ready = async () => (await fetch(`${late.url}/readyz`)).text()
    await until('it says so', async () =>
      /the API server does not know logpipelines.logpipeline.dev: install its custom/.test(await ready()),
    )
    await suite.installOwnCrds()
    await until('it begins', async () => (await ready()).includes('[+]cache ok'), LOOK_MS)
    await late.stop()
    await objects.apply(suite.pipeline('at-last'))
    await objects.condition('LogPipeline', 'at-last', 'Ready', 'True', LOOK_MS)
  })
})
