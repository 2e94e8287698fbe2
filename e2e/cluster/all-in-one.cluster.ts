import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, createKubectl, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { countDocuments, incidents, type ListedIncident } from '../testing/api.ts'
import { loadProductImage, NEXT_IMAGE } from '../testing/product-image.ts'
import { createDoors, type Doors } from './testing/doors.ts'
import { exportFromPod, TROUBLE } from './testing/export-job.ts'
import { viewPipeline } from './testing/pipeline-view.ts'
import { createRelease, type Release } from './testing/release.ts'

export const needs = ['kubernetes-node']

const API = { apiVersion: 'logpipeline.dev/v1alpha1' }

/** Steps of one story: each goes on where the one before ended. */
describe('One LogPipeline of mode AllInOne, from helm install to uninstall', function () {
  this.timeout(240_000)
  this.bail(true)
  let kubectl: Kubectl
  let release: Release
  let namespace: { readonly name: string; close(): Promise<void> }
  let doors: Doors

  before(async function () {
    this.timeout(480_000)
    kubectl = createKubectl('kubernetes-node')
    await loadProductImage()
    release = await createRelease(kubectl)
    namespace = await kubectl.namespace('shop')
    doors = await createDoors({ kubectl, namespace: namespace.name, view: view() })
    await doors.makeSecrets()
  })
  after(async () => {
    await release?.uninstall()
    if (release !== undefined) await kubectl.remove('namespace', release.namespace)
    await namespace?.close()
  })

  const pipeline = (more: object = {}) => ({
    ...{ ...API, kind: 'LogPipeline', metadata: { name: 'small', namespace: namespace.name } },
    spec: { mode: 'AllInOne', tenant: 'shop', imagePullPolicy: 'Never', gateway: doors.gateway, ...more },
  })
  const view = () => viewPipeline(kubectl, namespace.name, 'small')
  const pod = () => kubectl.get('pod', 'small-0', namespace.name)
  const exportTrouble = (name: string, service: string) =>
    exportFromPod(kubectl, { name, service, namespace: namespace.name, endpoint: `http://small-collector.${namespace.name}:4318` }, TROUBLE)
  const incidentOf = (service: string) =>
    until(`an incident of ${service}`, async () => {
      const all = await view().at('ticketing', 18_081, incidents)
      return all.find((one: ListedIncident) => one.service === service)
    })

  it('helm install --wait is done when two operators run and one of them leads', async () => {
    await release.install()
    const pods = await kubectl.list('pods', '--namespace', release.namespace)
    expect(pods.filter(one => one.status.containerStatuses[0].ready)).to.have.length(2)
    const lease = await until('the lead is taken', () => kubectl.get('lease', 'logpipeline-operator', release.namespace))
    expect(pods.map(one => one.metadata.name)).to.include(lease.spec.holderIdentity.replace(/_[^_]*$/, ''))
  })

  it('kubectl apply, and it is Ready: one pod that runs as nobody on a read-only file system', async () => {
    await kubectl.apply(pipeline())
    await view().waitUntilReady()
    const { spec, status } = await pod()
    expect(status.containerStatuses[0].ready).to.equal(true)
    expect(spec.securityContext.runAsNonRoot).to.equal(true)
    expect(spec.containers[0].securityContext).to.deep.include({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  })

  it('takes records from a pod through the Service, and shows the incident', async () => {
    await exportTrouble('exporter', 'checkout')
    const incident = await incidentOf('checkout')
    expect(incident.status).to.equal('open')
    expect(await view().at('search', 9200, url => countDocuments(url, 'service-logs-*'))).to.equal(TROUBLE.length)
  })

  it('says truthfully that an image cannot be had, and recovers', async () => {
    await kubectl.apply(pipeline({ image: 'localhost/no-such-image:1' }))
    const ready = await view().waitFor('Ready', { status: 'False', reason: 'ImagePullBackOff' })
    expect(ready.message).to.match(/small-0.*image/i)
    await kubectl.apply(pipeline())
    await view().waitUntilReady()
    await until(
      'the logs are there still',
      async () => (await view().at('search', 9200, url => countDocuments(url, 'service-logs-*'))) === TROUBLE.length,
    )
  })

  it('takes a record in through its gateway, with the first key, and shows it to the tenant of the key alone', () =>
    doors.showRecordsToTheirTenantAlone())

  it('shows the console behind kubectl port-forward service/small-dashboard 3000', () => doors.showTheConsole())

  it('serves a rotated certificate without a restart', async () => {
    const before = await pod()
    await doors.rotateCertificate()
    const { metadata, status } = await pod()
    expect([metadata.uid, status.containerStatuses[0].restartCount]).to.deep.equal([before.metadata.uid, 0])
  })

  it('changes nothing while it is paused', async () => {
    await kubectl.apply(pipeline({ paused: true, logLevel: 'debug' }))
    await view().waitFor('Paused', { status: 'True' })
    const before = await pod()
    await kubectl.apply(pipeline({ logLevel: 'debug' }))
    await until('the pod is another', async () => {
      const now = await pod()
      return now?.metadata.uid !== before.metadata.uid
    })
    await view().waitUntilReady()
  })

  it('takes a route, and the rotated Secret of one, without a restart', async () => {
    const secret = (routingKey: string) => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pagerduty', namespace: namespace.name } },
      stringData: { routingKey },
    })
    const route = {
      ...{ ...API, kind: 'TicketingRoute', metadata: { name: 'oncall', namespace: namespace.name } },
      spec: { severities: ['critical', 'high'], platform: 'pagerduty', credentials: { secret: { name: 'pagerduty' } } },
    }
    const declared = async () => {
      const config = await view().at(
        'ticketing',
        18_081,
        async url => (await fetch(`${url}/api/v1/config`)).json() as Promise<ClusterObject>,
      )
      return config.declared
    }
    const generationOf = async () => (await kubectl.get('statefulset', 'small', namespace.name)).metadata.generation
    const before = { uid: (await pod()).metadata.uid, generation: await generationOf() }
    await kubectl.apply(route)
    await until('the route says what it lacks', async () => {
      const { status } = await kubectl.get('ticketingroute', 'oncall', namespace.name)
      return status?.conditions?.some(
        (one: { type: string; reason: string }) => one.type === 'CredentialsReady' && one.reason === 'MissingSecret',
      )
    })
    await kubectl.apply(secret('first'))
    await kubectl.run(['wait', '--namespace', namespace.name, '--for=condition=Ready', '--timeout=60s', 'ticketingroute/oncall'])
    // The kubelet looks at what it has mounted once a minute.
    await until('the running pod has read it', async () => JSON.stringify(await declared()).includes(`${namespace.name}/oncall`), 150_000)
    const rotated = Buffer.from('second').toString('base64')
    await kubectl.apply(secret('second'))
    await until(
      'its copy is rotated',
      async () => (await kubectl.get('secret', 'small-declared', namespace.name)).data['pagerduty.routingKey'] === rotated,
    )
    await view().waitUntilReady()
    expect({ uid: (await pod()).metadata.uid, generation: await generationOf() }).to.deep.equal(before)
  })

  it('goes over to the image of a new release of the operator', async () => {
    await release.install({ 'image.tag': 'next' })
    await until('the pod runs the next image', async () => (await pod())?.spec.containers[0].image === NEXT_IMAGE)
    await view().waitUntilReady()
    await exportTrouble('exporter-next', 'basket')
    await incidentOf('basket')
  })

  it('is looked after when the leading operator is killed', async () => {
    const lease = await kubectl.get('lease', 'logpipeline-operator', release.namespace)
    const leader = lease.spec.holderIdentity.replace(/_[^_]*$/, '')
    await kubectl.remove('pod', leader, release.namespace, '--grace-period=0', '--force')
    await kubectl.remove('service', 'small-search', namespace.name)
    await until('the Service is back', () => kubectl.get('service', 'small-search', namespace.name))
  })

  it('leaves nothing but its volume when it is deleted', async () => {
    await kubectl.remove('logpipeline', 'small', namespace.name)
    const kinds = 'statefulsets,services,configmaps,secrets,serviceaccounts,networkpolicies,pods'
    await until('all objects are gone', async () => {
      const left = await kubectl.list(kinds, '--namespace', namespace.name, '--selector', 'app.kubernetes.io/instance=small')
      return left.length === 0
    })
    const claims = await kubectl.list('persistentvolumeclaims', '--namespace', namespace.name)
    expect(claims).to.have.length(1)
  })

  it('helm uninstall leaves nothing behind, pipelines or not', async () => {
    await kubectl.apply(pipeline())
    await view().waitUntilReady()
    await release.uninstall()
    await until('the resources are gone', async () => (await kubectl.get('crd', 'logpipelines.logpipeline.dev')) === undefined)
    await until('the pod goes with them', async () => (await pod()) === undefined)
  })
})
