/** The chart in the hands of Helm and kubectl, before a real API server. Its pods are played; its operator is a process with the settings and rights of the release. */
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { parseDocument } from 'yaml'
import { type FakeKubelet, readyStatus, startFakeKubelet, waitingStatus } from '../../dataplane/testing/cluster/fake-kubelet.ts'
import { type ClusterObject, createKubectl, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { isOwnBackend } from '../../dataplane/testing/real/address.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { operatorRequests, operatorWrites } from '../testing/cluster-requests.ts'
import { toolOrSkip } from './testing/chart-conformance.ts'
import { readChartFile } from './testing/chart-files.ts'
import { type ChartTrial, CRDS, clusterWide, OPERATOR, openChartTrial, RELEASE, untilGone } from './testing/chart-trial.ts'
import { makePreviousChart, PREVIOUS_VERSION, type PreviousChart } from './testing/previous-chart.ts'

export const needs = ['kubernetes']

const BUILD_MS = 200_000
const VERSION = parseDocument(readChartFile('Chart.yaml')).get('appVersion') as string
const image = (tag: string) => ({ image: { repository: 'localhost/logpipeline', tag, pullPolicy: 'Never' } })
const REMOVED = { ...image('test'), crds: { keep: false } }

const uidOf = ({ metadata }: ClusterObject) => metadata.uid
const versionOf = ({ metadata }: ClusterObject) => metadata.labels['helm.sh/chart']

describe('The chart on a real API server', function () {
  this.timeout(240_000)
  let kubectl: Kubectl
  let kubelet: FakeKubelet
  let previous: PreviousChart
  let helm3: string
  let helm4: string
  let trial: ChartTrial
  before(async function () {
    this.timeout(BUILD_MS)
    helm3 = await toolOrSkip(this, 'helm3')
    helm4 = await toolOrSkip(this, 'helm4')
    if (!isOwnBackend('kubernetes')) skipBecause(this, 'removes CustomResourceDefinitions of the cluster')
    kubectl = createKubectl('kubernetes')
    kubelet = startFakeKubelet(kubectl.kubeconfig)
    previous = makePreviousChart()
  })
  afterEach(() => {
    kubelet.fate = readyStatus
    return trial?.close()
  })
  after(async () => {
    previous?.close()
    await kubelet?.stop()
  })

  const ready = async (spec: object = {}) => {
    await kubectl.apply(trial.pipeline(spec))
    await trial.untilReady()
  }
  const pipelineUid = async () => uidOf(await kubectl.get('logpipeline', 'shop', trial.shop))

  /** Without the image, and the hash that it is part of. */
  const podTemplates = async () => {
    const deployments = await kubectl.list('deployments', '--namespace', trial.shop)
    const texts = deployments.map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(spec.template)}`)
    return texts.map(text => text.replace(/localhost\/logpipeline:\w+/g, '').replace(/inputs-hash":"\w+/, ''))
  }

  for (const major of [3, 4])
    it(`is installed by Helm ${major}: --wait is done when its pods are ready, not before; uninstalled with crds.keep=false it leaves nothing`, async () => {
      trial = await openChartTrial(kubectl, major === 3 ? helm3 : helm4)
      kubelet.fate = waitingStatus('ContainerCreating', '')
      let isInstalled = false
      const installing = trial.helm.install(REMOVED).then(() => {
        isInstalled = true
      })
      const status = async () => (await kubectl.get('deployment', OPERATOR, trial.system))?.status
      await until('its pods start', async () => (await status())?.unavailableReplicas === 2)
      expect(isInstalled).to.equal(false)
      kubelet.fate = readyStatus
      await installing
      expect(await status()).to.include({ readyReplicas: 2, updatedReplicas: 2 })
      expect(await trial.helm.run(['status', RELEASE])).to.match(/STATUS: deployed/)
      await trial.helm.uninstall()
      await until('nothing is left in the cluster', async () => (await clusterWide(kubectl)).length === 0)
      const left = await kubectl.list('deployments,services,serviceaccounts,roles,rolebindings,leases,pdb', '--namespace', trial.system)
      expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.deep.equal(['ServiceAccount default'])
    })

  it('upgrades the CRDs with it and keeps pipelines and their objects; they restart for another image alone, once', async () => {
    trial = await openChartTrial(kubectl, helm3)
    await trial.helm.install(image('one'), previous.path)
    await trial.startOperator()
    const refusal = await kubectl.run(['apply', '--filename=-'], JSON.stringify(trial.pipeline({ logLevel: 'debug' }))).catch(String)
    expect(refusal, 'the CRD of the version before').to.contain('unknown field "spec.logLevel"')
    await ready()
    const uid = await pipelineUid()
    const [objects, operatorPods] = [await trial.objects(uidOf), await kubectl.list('pods', '--namespace', trial.system)]
    expect(Object.keys(objects)).to.have.length.above(20)

    const upgradeMs = Date.now()
    await trial.helm.install(image('one'))
    for (const name of CRDS)
      expect(versionOf(await kubectl.get('crd', name)))
        .to.equal(`logpipeline-${VERSION}`)
        .and.not.contain(PREVIOUS_VERSION)
    expect((await kubectl.list('pods', '--namespace', trial.system)).map(uidOf), 'pods of the operator').to.have.members(
      operatorPods.map(uidOf),
    )
    expect(await pipelineUid()).to.equal(uid)
    expect(await trial.objects(uidOf), 'all are as they were, pods too').to.deep.equal(objects)
    expect(operatorWrites(upgradeMs, trial.shop)).to.deep.equal([])

    const before = await podTemplates()
    await trial.helm.install(image('two'))
    await trial.startOperator()
    await until('all pods run the new image', async () => {
      const pods = await kubectl.list('pods', '--namespace', trial.shop)
      return pods.every(({ spec }) => spec.containers[0].image === 'localhost/logpipeline:two')
    })
    await trial.untilReady()
    expect(await podTemplates(), 'but for the image').to.deep.equal(before)
    const kept = await trial.objects(uidOf)
    const remaining = Object.fromEntries(Object.entries(objects).filter(([name]) => !name.startsWith('Pod/')))
    expect(kept, 'their pods alone are others').to.include(remaining)
    const sets = Object.keys(kept).filter(name => name.startsWith('ReplicaSet/'))
    expect(sets, 'one rollout each').to.have.length(2 * Object.keys(kept).filter(name => name.startsWith('Deployment/')).length)
    await ready({ logLevel: 'debug' })
  })

  it('leaves CRDs and pipelines when it is uninstalled, what runs keeps running, and a later installation goes on with them', async () => {
    trial = await openChartTrial(kubectl, helm4)
    await trial.helm.install(image('test'))
    await trial.startOperator()
    await ready()
    const [uid, objects] = [await pipelineUid(), await trial.objects(uidOf)]
    await trial.stopOperator()
    await trial.helm.uninstall()
    await untilGone(kubectl, 'deployment', OPERATOR, trial.system)
    expect(await clusterWide(kubectl)).to.have.members(CRDS)
    expect(await trial.objects(uidOf)).to.deep.equal(objects)
    await trial.helm.install(image('test'))
    const startMs = Date.now()
    await trial.startOperator()
    await until('it has looked at the pipeline', () =>
      operatorRequests(startMs).some(({ resource, verb }) => resource === 'logpipelines' && verb === 'watch'),
    )
    await kubectl.apply(trial.pipeline({ bridge: { replicas: 2 } }))
    await trial.untilReady()
    expect(await pipelineUid()).to.equal(uid)
    expect(operatorWrites(startMs, trial.shop).filter(write => !/shop-bridge|logpipelines\/status/.test(write))).to.deep.equal([])
  })

  it('is applied by kubectl as Helm renders it, and taken away in the same way', async () => {
    trial = await openChartTrial(kubectl, helm3)
    const manifests = await trial.helm.template(REMOVED)
    await kubectl.run(['create', 'namespace', trial.system])
    await kubectl.run(['apply', '--namespace', trial.system, '--filename=-'], manifests)
    await kubectl.run(['rollout', 'status', `deployment/${OPERATOR}`, '--namespace', trial.system, '--timeout=120s'])
    await trial.startOperator()
    await ready()
    const again = await kubectl.run(['apply', '--namespace', trial.system, '--filename=-'], manifests)
    const changed = again
      .trim()
      .split('\n')
      .filter(line => !line.endsWith(' unchanged'))
    // kubectl patches the selector of every PodDisruptionBudget with what it is.
    expect(changed).to.deep.equal([`poddisruptionbudget.policy/${OPERATOR} configured`])
    await trial.stopOperator()
    await kubectl.run(['delete', '--namespace', trial.system, '--filename=-', '--timeout=120s'], manifests)
    expect(await clusterWide(kubectl)).to.deep.equal([])
  })

  it('with watchNamespaces looks after pipelines there and nowhere else, with rights there and nowhere else', async () => {
    trial = await openChartTrial(kubectl, helm3)
    const beside = await kubectl.namespace('beside')
    try {
      await trial.helm.install({ ...REMOVED, watchNamespaces: [trial.shop], rbac: { aggregatedRoles: false } })
      expect((await clusterWide(kubectl)).filter(name => !CRDS.includes(name))).to.deep.equal([])
      const startMs = Date.now()
      const operator = await trial.startOperator()
      await kubectl.apply({ ...trial.pipeline(), metadata: { name: 'shop', namespace: beside.name } })
      await ready()
      expect((await kubectl.list('deployments', '--namespace', beside.name)).length).to.equal(0)
      expect(operatorRequests(startMs).filter(({ code }) => code === 403)).to.deep.equal([])
      expect(operator.output()).not.to.match(/"level":"(warn|error)"/)
    } finally {
      await kubectl.remove('namespace', beside.name, undefined, '--wait=false')
    }
  })

  const deleteNamespaces = (...names: readonly string[]) => kubectl.run(['delete', 'namespace', ...names, '--timeout=120s'])
  const deletePipelines = async () => {
    await kubectl.run(['delete', 'logpipelines,ticketingroutes', '--all', '--all-namespaces', '--timeout=120s'])
    await until('what ran is gone', async () => Object.keys(await trial.objects(uidOf)).length === 0)
  }
  const uninstall = async () => {
    // Helm asks for the end of the pods, and goes on.
    await Promise.all([trial.stopOperator(), trial.helm.uninstall()])
    await until('nothing is left in the cluster', async () => (await clusterWide(kubectl)).length === 0)
  }
  const ORDERS: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
    'the release, then the namespaces': [uninstall, () => deleteNamespaces(trial.shop, trial.system)],
    'the pipelines, then the release, then the namespaces': [deletePipelines, uninstall, () => deleteNamespaces(trial.shop, trial.system)],
    'the namespace of the pipelines, then the release': [() => deleteNamespaces(trial.shop), uninstall],
    'the namespace of the release, then the pipelines': [
      () => deleteNamespaces(trial.system),
      deletePipelines,
      // The next release takes over the objects that it has left in the cluster.
      () => trial.helm.install(REMOVED),
      uninstall,
    ],
  }
  for (const [order, steps] of Object.entries(ORDERS))
    it(`leaves nothing that does not end, when this is removed: ${order}`, async () => {
      trial = await openChartTrial(kubectl, helm3)
      await trial.helm.install(REMOVED)
      await trial.startOperator()
      const route = {
        ...{ apiVersion: 'logpipeline.dev/v1alpha1', kind: 'TicketingRoute', metadata: { name: 'chat', namespace: trial.shop } },
        spec: { severities: ['low'], platform: 'slack', credentials: { secret: { name: 'chat' } } },
      }
      await kubectl.apply(route, { ...trial.pipeline(), spec: { mode: 'AllInOne' } })
      await trial.untilReady()
      for (const step of steps) await step()
    })
})
