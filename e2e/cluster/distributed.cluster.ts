import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, createKubectl, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { isOwnBackend } from '../../dataplane/testing/real/address.ts'
import { KAFKA_USER } from '../../dataplane/testing/real/kafka-server.ts'
import { killApiServer, restartApiServer } from '../../dataplane/testing/real/kubernetes-server.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { incidents } from '../testing/api.ts'
import { loadProductImage } from '../testing/product-image.ts'
import { createDoors, type Doors } from './testing/doors.ts'
import { exportFromPod, TROUBLE } from './testing/export-job.ts'
import { NODE_BACKENDS, startNodeBackends, stopNodeBackends } from './testing/node-backends.ts'
import { viewPipeline } from './testing/pipeline-view.ts'
import { createRelease, type Release } from './testing/release.ts'

export const needs = ['kubernetes-node']

const API = { apiVersion: 'logpipeline.dev/v1alpha1' }

/** Steps of one story: each goes on where the one before ended. */
describe('One LogPipeline of mode Distributed, beside a real Kafka and OpenSearch', function () {
  this.timeout(240_000)
  this.bail(true)
  let kubectl: Kubectl
  let release: Release
  let namespace: { readonly name: string; close(): Promise<void> }
  let doors: Doors
  const tenant = `shop-${randomUUID().slice(0, 5)}`

  before(async function () {
    this.timeout(480_000)
    if (!isOwnBackend('kubernetes-node')) skipBecause(this, 'needs servers beside the node of hack/backends, and its API server to kill')
    kubectl = createKubectl('kubernetes-node')
    await loadProductImage()
    await startNodeBackends()
    release = await createRelease(kubectl)
    await release.install({ replicas: '1' })
    namespace = await kubectl.namespace('shop')
    doors = await createDoors({ kubectl, namespace: namespace.name, view: view() })
    await doors.makeSecrets()
  })
  after(async () => {
    await namespace?.close()
    await release?.uninstall()
    if (release !== undefined) await kubectl.remove('namespace', release.namespace)
    if (isOwnBackend('kubernetes-node')) await stopNodeBackends()
  })

  /** So that all of them fit on the one node. */
  const SMALL = { resources: { requests: { cpu: '20m' } } }
  const BUS = {
    bootstrapServers: [NODE_BACKENDS.kafkaSasl],
    topicPrefix: `${tenant}.`,
    sasl: { mechanism: 'scram-sha-512', credentials: { secret: { name: 'kafka' } } },
  }
  const pipeline = (more: object = {}) => ({
    ...{ ...API, kind: 'LogPipeline', metadata: { name: 'shop', namespace: namespace.name } },
    spec: {
      ...{ tenant, imagePullPolicy: 'Never', bus: BUS, search: { endpoint: NODE_BACKENDS.search } },
      ...Object.fromEntries(['collector', 'bridge', 'ticketing', 'agent'].map(component => [component, SMALL])),
      gateway: { enabled: true, ...doors.gateway, ...SMALL },
      dashboard: { enabled: true, ...SMALL },
      ...more,
    },
  })
  const kafkaSecret = (password: string) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kafka', namespace: namespace.name } },
    stringData: { username: KAFKA_USER.username, password },
  })
  const view = () => viewPipeline(kubectl, namespace.name, 'shop')
  const exportTrouble = (service: string) => {
    const endpoint = `http://shop-collector.${namespace.name}:4318`
    return exportFromPod(kubectl, { name: `exporter-${service}`, service, namespace: namespace.name, endpoint }, TROUBLE)
  }
  const incidentOf = (service: string) =>
    until(`an incident of ${service}`, async () => {
      const all = await view().at('ticketing', 18_081, incidents)
      return all.find(one => one.service === service)
    })
  const owned = () =>
    kubectl.list(
      'deployments,services,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,ingresses',
      '--namespace',
      namespace.name,
      '--selector',
      'app.kubernetes.io/instance=shop',
    )

  it('waits for a Secret that is not there, and names the field', async () => {
    await kubectl.apply(pipeline())
    const { message } = await view().waitFor('SecretsSynced', { status: 'False', reason: 'MissingSecret' })
    expect(message).to.contain('spec.bus.sasl.credentials')
    expect(await view().condition('Stalled')).to.include({ status: 'True', reason: 'MissingSecret' })
  })

  it('tells that the pods cannot use a wrong password', async () => {
    await kubectl.apply(kafkaSecret('wrong'))
    await view().waitFor('SecretsSynced', { status: 'True' })
    const ready = await until('why it is not Ready', async () => {
      const found = await view().condition('Ready')
      return ['PodsNotReady', 'CrashLooping', 'Disconnected'].includes(found?.reason) ? found : undefined
    })
    expect(ready.status).to.equal('False')
    expect(ready.message).to.match(/pod shop-|cannot reach the bus at /)
  })

  it('is Ready once the Secret is rotated to the right one', async () => {
    await kubectl.apply(kafkaSecret(KAFKA_USER.password))
    await view().waitUntilReady()
    expect(await view().condition('BusReady')).to.include({ status: 'True', reason: 'Connected' })
    expect(await view().condition('SearchReady')).to.include({ status: 'True', reason: 'Connected' })
  })

  it('takes records from a pod through the Service, and shows the incident', async () => {
    await exportTrouble('checkout')
    expect((await incidentOf('checkout')).status).to.equal('open')
  })

  it('takes a record in through its gateway, with the first key, and shows it to the tenant of the key alone', async () => {
    expect(await view().condition('GatewayAvailable')).to.include({ status: 'True', reason: 'Available' })
    await doors.showRecordsToTheirTenantAlone()
  })

  it('shows the console behind kubectl port-forward service/shop-dashboard 3000', async () => {
    expect(await view().condition('DashboardAvailable')).to.include({ status: 'True', reason: 'Available' })
    await doors.showTheConsole()
  })

  it('serves a rotated certificate without a restart', async () => {
    const pods = async () => {
      const selector = 'app.kubernetes.io/component=gateway'
      const all = await kubectl.list('pods', '--namespace', namespace.name, '--selector', selector)
      return all.map(({ metadata, status }) => [metadata.uid, status.containerStatuses[0].restartCount])
    }
    const before = await pods()
    expect(before.map(([, restarts]) => restarts)).to.deep.equal([0, 0])
    await doors.rotateCertificate()
    expect(await pods()).to.deep.equal(before)
  })

  it('scales the bridge by kubectl scale, and the jobs of exactly once take over', async () => {
    await kubectl.apply(pipeline({ stream: { enabled: true, ...SMALL } }))
    await kubectl.run(['scale', '--namespace', namespace.name, '--replicas=2', 'logpipeline/shop'])
    await view().waitFor('StreamJobsRunning', { status: 'True' })
    await view().waitUntilReady()
    const { status } = await kubectl.get('logpipeline', 'shop', namespace.name)
    expect(status.components.bridge).to.include({ desired: 2, ready: 2 })
    await exportTrouble('basket')
    await incidentOf('basket')
  })

  it('says of the agent what it sees: brokers, groups, search store', async () => {
    const metrics = await view().at('agent', 8080, async url => (await fetch(`${url}/metrics`)).json() as Promise<ClusterObject>)
    expect(JSON.stringify(metrics)).to.contain(`${tenant}.raw-logs`)
  })

  it('is told of brokers that are not there, with their address, and goes on when they are named rightly', async () => {
    const nowhere = { ...BUS, bootstrapServers: ['nowhere:9092'] }
    await kubectl.apply(pipeline({ bus: nowhere, stream: { enabled: true, ...SMALL } }))
    const { message } = await view().waitFor('BusReady', { status: 'False', reason: 'Disconnected' })
    expect(message).to.contain('nowhere:9092')
    const pods = await kubectl.list(
      'pods',
      '--namespace',
      namespace.name,
      '--selector',
      'app.kubernetes.io/component in (collector,bridge)',
    )
    for (const { status } of pods) expect(status.containerStatuses[0].restartCount).to.equal(0)
    await kubectl.apply(pipeline({ stream: { enabled: true, ...SMALL } }))
    await view().waitUntilReady()
  })

  it('is told of a search store that is not there, and goes on when it is named rightly', async () => {
    const right = await kubectl.get('logpipeline', 'shop', namespace.name)
    await kubectl.run([
      'patch',
      '--namespace',
      namespace.name,
      'logpipeline/shop',
      '--type=merge',
      '--patch',
      '{"spec":{"search":{"endpoint":"http://nowhere:9200"}}}',
    ])
    const { message } = await view().waitFor('SearchReady', { status: 'False', reason: 'Disconnected' })
    expect(message).to.contain('search store')
    expect(await view().condition('Ready')).to.include({ status: 'False' })
    await kubectl.run([
      'patch',
      '--namespace',
      namespace.name,
      'logpipeline/shop',
      '--type=merge',
      '--patch',
      JSON.stringify({ spec: { search: right.spec.search } }),
    ])
    await view().waitUntilReady()
  })

  it('an operator that is started again changes nothing', async () => {
    const versions = async () => (await owned()).map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`)
    const before = await versions()
    const version = (await kubectl.get('logpipeline', 'shop', namespace.name)).metadata.resourceVersion
    await kubectl.run(['rollout', 'restart', '--namespace', release.namespace, 'deployment'])
    await kubectl.run(['rollout', 'status', '--namespace', release.namespace, 'deployment', '--timeout=120s'])
    // Events and the lease are of the operator itself.
    await until('the new one leads', async () => {
      const lease = await kubectl.get('lease', 'logpipeline-operator', release.namespace)
      const pods = await kubectl.list('pods', '--namespace', release.namespace)
      return pods.some(
        ({ metadata, status }) =>
          lease.spec.holderIdentity.startsWith(metadata.name) && status.phase === 'Running' && metadata.deletionTimestamp === undefined,
      )
    })
    await new Promise(done => setTimeout(done, 5_000))
    expect(await versions()).to.deep.equal(before)
    expect((await kubectl.get('logpipeline', 'shop', namespace.name)).metadata.resourceVersion).to.equal(version)
  })

  it('goes on when the API server was away', async () => {
    await killApiServer('kubernetes-node')
    await restartApiServer('kubernetes-node')
    await kubectl.remove('service', 'shop-ticketing', namespace.name)
    await until('the Service is put back', () => kubectl.get('service', 'shop-ticketing', namespace.name), 90_000)
    await view().waitUntilReady()
  })

  it('leaves nothing when it is deleted', async () => {
    await kubectl.remove('logpipeline', 'shop', namespace.name)
    await until('all objects are gone', async () => (await owned()).length === 0)
  })
})
