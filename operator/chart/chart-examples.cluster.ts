/** The examples of the chart as their README has them applied, on a real API server. Pods are played, and so are the operators of others; their CRDs are real. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { TOPICS } from '../../dataplane/contract/topics.ts'
import { type FakeKubelet, readyStatus, startFakeKubelet, waitingStatus } from '../../dataplane/testing/cluster/fake-kubelet.ts'
import { type ClusterObject, createKubectl, type Kubectl, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { isOwnBackend } from '../../dataplane/testing/real/address.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'
import { startReleasedOperator } from '../testing/released-operator.ts'
import { argoHealth } from './testing/argo-health.ts'
import { BUILD_LIMIT_MS, orSkip, toolOrSkip } from './testing/chart-conformance.ts'
import { EXAMPLES } from './testing/chart-examples.ts'
import { OPERATOR, removeClusterWide } from './testing/chart-trial.ts'
import { type Crd, shippedCrds, WRITTEN_CRDS, withoutConversion } from './testing/foreign-crds.ts'

export const needs = ['kubernetes']

/** Namespaces that the examples name. */
const SYSTEM = 'logpipeline-system'
const SHOP = 'observability'
const NAMESPACES = [SYSTEM, SHOP, 'argocd', 'flux-system']
/** Whether a CRD is needed: one alone of the many of External Secrets. */
const isWanted = (name: string) => !name.endsWith('external-secrets.io') || name === 'externalsecrets.external-secrets.io'

const example = (path: string) => join(fileURLToPath(EXAMPLES), path)
const conditionOf = ({ status }: ClusterObject, type: string) =>
  status?.conditions?.find((condition: ClusterObject) => condition.type === type)

describe('The examples of the chart on a real API server', function () {
  this.timeout(240_000)
  let kubectl: Kubectl
  let kubelet: FakeKubelet
  let operator: OperatorProcess
  let crds: readonly Crd[] = []
  let glua: string

  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 120_000)
    if (!isOwnBackend('kubernetes')) skipBecause(this, 'removes CustomResourceDefinitions of the cluster')
    const helm = await toolOrSkip(this, 'helm3')
    glua = await toolOrSkip(this, 'glua')
    const shipped = await orSkip(this, shippedCrds)
    crds = [...shipped.filter(({ metadata }) => isWanted(metadata.name)).map(withoutConversion), ...WRITTEN_CRDS]
    kubectl = createKubectl('kubernetes')
    kubelet = startFakeKubelet(kubectl.kubeconfig)
    await removeClusterWide(kubectl)
    // Left by a run that was cut short.
    await kubectl.run(['delete', 'namespace', ...NAMESPACES, '--ignore-not-found'])
    await kubectl.apply(...crds)
    for (const { metadata } of crds) await kubectl.run(['wait', `crd/${metadata.name}`, '--for=condition=Established', '--timeout=30s'])
    await kubectl.run(['create', 'namespace', SYSTEM])
    const args = ['--enable-helm', '--helm-command', helm, '--load-restrictor', 'LoadRestrictionsNone']
    await apply(await kubectl.run(['kustomize', example('kustomize/operator'), ...args]))
    await kubectl.run(['rollout', 'status', `deployment/${OPERATOR}`, '--namespace', SYSTEM, '--timeout=120s'])
    operator = await startReleasedOperator(kubectl, SYSTEM)
  })
  afterEach(() => kubectl?.run(['delete', 'namespace', SHOP, '--ignore-not-found']))
  after(async () => {
    if (kubectl === undefined) return
    await operator?.stop()
    await kubectl.run(['delete', 'namespace', ...NAMESPACES, '--ignore-not-found', '--wait=false'])
    await removeClusterWide(kubectl)
    await kubectl.run(['delete', 'crd', ...crds.map(({ metadata }) => metadata.name), '--ignore-not-found'])
    await kubelet.stop()
  })

  const apply = (manifests: string) => kubectl.run(['apply', '--filename=-'], manifests)
  const applyFile = (path: string, ...args: readonly string[]) => kubectl.run(['apply', '--filename', example(path), ...args])
  const createNamespace = (name: string) => kubectl.run(['create', 'namespace', name])
  const untilReady = (...names: readonly string[]) =>
    kubectl.run(['wait', ...names, '--namespace', SHOP, '--for=condition=Ready', '--timeout=120s'])
  const get = (kind: string, name: string) => kubectl.get(kind, name, SHOP)
  const untilReason = (type: string, reason: string) =>
    until(`${type} is ${reason}`, async () => {
      const condition = conditionOf(await get('logpipeline', 'shop'), type)
      if (condition?.reason !== reason) throw new Error(`it is ${condition?.reason}: ${condition?.message}`)
      return true
    })
  const secret = (name: string, stringData: object) =>
    kubectl.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: SHOP }, stringData })
  const say = (kind: string, name: string, status: object) =>
    kubectl.run(['patch', kind, name, '--namespace', SHOP, '--subresource=status', '--type=merge', '--patch', JSON.stringify({ status })])

  it('kubectl/all-in-one.yaml becomes Ready', async () => {
    await createNamespace(SHOP)
    await applyFile('kubectl/all-in-one.yaml')
    await untilReady('logpipeline/small')
    expect((await get('statefulset', 'small')).status.readyReplicas).to.equal(1)
  })

  it('kubectl/distributed.yaml becomes Ready, with both of its routes', async () => {
    await createNamespace(SHOP)
    await applyFile('kubectl/distributed.yaml')
    await untilReady('logpipeline/shop', 'ticketingroute/shop-on-call', 'ticketingroute/shop-issues')
    expect((await get('ticketingroute', 'shop-issues')).status.pipelines).to.deep.equal(['shop'])
    const again = await applyFile('kubectl/distributed.yaml')
    expect(again.match(/logpipeline\.dev.* unchanged/g), again).to.have.length(3)
  })

  it('kubectl/external-secrets.yaml says what it waits for, and becomes Ready when the operators of others have done their part', async () => {
    await createNamespace(SHOP)
    await applyFile('kubectl/external-secrets.yaml')
    await untilReason('BusReady', 'MissingKafka')
    const kafka = { apiVersion: 'kafka.strimzi.io/v1beta2', kind: 'Kafka', metadata: { name: 'my-kafka', namespace: SHOP }, spec: {} }
    await kubectl.apply(kafka)
    const certificates = ['-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n']
    const listeners = [{ name: 'tls', bootstrapServers: 'my-kafka-bootstrap:9093', certificates }]
    const ready = { type: 'Ready', status: 'True' }
    await say('kafka', 'my-kafka', { conditions: [ready], listeners })
    await untilReason('SecretsSynced', 'MissingSecret')
    await secret('shop', { password: 'p' })
    await untilReason('SecretsSynced', 'SecretNotSynced')
    await secret('shop-search', { username: 'u', password: 'p', 'ca.crt': certificates[0]! })
    await say('externalsecret', 'shop-search', { conditions: [{ ...ready, reason: 'SecretSynced', message: 'secret synced' }] })
    const topics = await until('the topics are there', async () => {
      const found = await kubectl.list('kafkatopics', '--namespace', SHOP)
      return found.length === Object.keys(TOPICS).length ? found : undefined
    })
    for (const { metadata } of topics)
      await say('kafkatopic', metadata.name, { conditions: [ready], observedGeneration: metadata.generation })
    await untilReady('logpipeline/shop')
    const made = await kubectl.list('scaledobjects,triggerauthentications,servicemonitors,prometheusrules', '--namespace', SHOP)
    const kinds = ['PrometheusRule', 'ScaledObject', 'ServiceMonitor', 'TriggerAuthentication']
    expect([...new Set(made.map(({ kind }) => kind))].sort()).to.deep.equal(kinds)
  })

  it('kubectl/cloud-address.yaml says what it waits for, and becomes Ready when cert-manager has made the certificate', async () => {
    await createNamespace(SHOP)
    await applyFile('kubectl/cloud-address.yaml')
    const ready = await until('it waits', async () => {
      const condition = conditionOf(await get('logpipeline', 'cloud'), 'Ready')
      return condition?.reason === 'MissingSecret' ? condition : undefined
    })
    expect(ready.message).to.equal('spec.gateway.tls.secretName: expected a Secret cloud-gateway-tls, found none')
    await secret('cloud-gateway-tls', { 'tls.crt': '-----BEGIN CERTIFICATE-----', 'tls.key': '-----BEGIN PRIVATE KEY-----' })
    await untilReady('logpipeline/cloud')
    expect(conditionOf(await get('logpipeline', 'cloud'), 'DashboardReachable').reason).to.equal('IngressAllowed')
    const ingresses = await kubectl.list('ingresses', '--namespace', SHOP)
    expect(ingresses.map(({ metadata, spec }) => [metadata.name, spec.rules[0].host, spec.tls[0].secretName])).to.deep.equal([
      ['cloud-dashboard', 'logs.shop.example', 'cloud-console-tls'],
      ['cloud-gateway', 'ingest.shop.example', 'cloud-gateway-tls'],
      ['cloud-gateway-grpc', 'ingest.shop.example', 'cloud-gateway-tls'],
    ])
  })

  it('kustomize/pipeline becomes Ready under the Pod Security Standard "restricted", and rolls when a generated Secret is another', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'chart-kustomize-'))
    const overlay = join(directory, 'overlays/production')
    try {
      cpSync(example('kustomize/pipeline'), directory, { recursive: true })
      await apply(await kubectl.run(['kustomize', overlay]))
      await untilReady('logpipeline/shop', 'ticketingroute/on-call')
      const { metadata } = await kubectl.get('namespace', SHOP)
      expect(metadata.labels).to.include({ 'pod-security.kubernetes.io/enforce': 'restricted' })
      const file = join(overlay, 'kustomization.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace('password=change-me', 'password=changed'))
      const told = await apply(await kubectl.run(['kustomize', overlay]))
      expect(told)
        .to.match(/secret\/search-\S+ created/)
        .and.match(/logpipeline\S*\/shop configured/)
      await untilReady('logpipeline/shop')
      const sets = await kubectl.list('replicasets', '--namespace', SHOP)
      const rollouts = (component: string) => sets.filter(set => set.metadata.labels['app.kubernetes.io/component'] === component).length
      expect([rollouts('collector'), rollouts('bridge')]).to.deep.equal([1, 2])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('argocd adds its entries to settings, however they were applied, and its Applications are taken', async () => {
    await createNamespace('argocd')
    const names = { 'app.kubernetes.io/name': 'argocd-cm', 'app.kubernetes.io/part-of': 'argocd' }
    const metadata = { name: 'argocd-cm', namespace: 'argocd', labels: names }
    const settings = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { url: 'https://argocd.example.com' } })
    for (const way of ['--server-side=false', '--server-side=true']) {
      await kubectl.run(['apply', '--filename=-', way], settings)
      await kubectl.run(['patch', 'configmap', 'argocd-cm', '--namespace', 'argocd', '--patch-file', example('argocd/argocd-cm.yaml')])
      const { data } = await kubectl.get('configmap', 'argocd-cm', 'argocd')
      const entries = ['LogPipeline', 'TicketingRoute'].map(kind => `resource.customizations.health.logpipeline.dev_${kind}`)
      expect(data, way).to.have.all.keys('url', ...entries)
      await kubectl.remove('configmap', 'argocd-cm', 'argocd')
    }
    await applyFile('argocd/applications.yaml', '--namespace', 'argocd')
    const applications = await kubectl.list('applications', '--namespace', 'argocd')
    expect(applications.map(({ metadata }) => metadata.name)).to.deep.equal(['logpipeline-operator', 'logpipeline-pipelines'])
  })

  it('flux: the sources are taken, and the operator runs in the namespace that they make', async () => {
    await createNamespace('flux-system')
    await applyFile('flux/sync.yaml')
    await kubectl.run(['apply', '--kustomize', example('flux/operator')])
    expect((await kubectl.list('kustomizations,gitrepositories', '--namespace', 'flux-system')).length).to.equal(3)
    expect((await kubectl.get('helmrelease', 'logpipeline', SYSTEM)).spec.values).to.have.keys('image')
    await kubectl.run(['rollout', 'restart', `deployment/${OPERATOR}`, '--namespace', SYSTEM])
    await kubectl.run(['rollout', 'status', `deployment/${OPERATOR}`, '--namespace', SYSTEM, '--timeout=120s'])
  })

  describe('argocd/argocd-cm.yaml: the health of objects as the API server has them', () => {
    const API = { apiVersion: 'logpipeline.dev/v1alpha1' }
    const created = async (object: object) =>
      JSON.parse(await kubectl.run(['create', '--filename=-', '--output=json'], JSON.stringify(object)))
    const untilHealth = (status: string, ask: () => Promise<ClusterObject>) =>
      until(`it is ${status}`, async () => {
        const health = await argoHealth(glua, await ask())
        if (health.status !== status) throw new Error(`it is ${health.status}: ${health.message}`)
        return health
      })

    it('a LogPipeline: Progressing, Healthy, Degraded, Suspended', async () => {
      const pipeline = () => get('logpipeline', 'shop')
      await createNamespace(SHOP)
      await secret('search', { username: 'u', password: 'p' })
      kubelet.fate = waitingStatus('ContainerCreating', '')
      const search = { endpoint: 'https://search:9200', credentials: { secret: { name: 'search' } } }
      const spec = { tenant: 'shop', bus: { bootstrapServers: ['kafka:9092'] }, search }
      const born = await created({ ...API, kind: 'LogPipeline', metadata: { name: 'shop', namespace: SHOP }, spec })
      expect((await argoHealth(glua, born)).status).to.equal('Progressing')
      await untilReason('CollectorAvailable', 'PodsNotReady')
      expect((await argoHealth(glua, await pipeline())).status, 'its pods start').to.equal('Progressing')
      kubelet.fate = readyStatus
      expect((await untilHealth('Healthy', pipeline)).message).to.match(/^Ready: /)
      await kubectl.remove('secret', 'search', SHOP)
      expect((await untilHealth('Degraded', pipeline)).message).to.match(/^MissingSecret: spec\.search\.credentials/)
      await secret('search', { username: 'u', password: 'p' })
      await untilHealth('Healthy', pipeline)
      await kubectl.run(['annotate', 'logpipeline/shop', 'logpipeline.dev/paused=true', '--namespace', SHOP])
      await untilHealth('Suspended', pipeline)
    })

    it('a TicketingRoute: Progressing, Degraded, Healthy', async () => {
      const route = () => get('ticketingroute', 'chat')
      await createNamespace(SHOP)
      const spec = { severities: ['low'], platform: 'slack', credentials: { secret: { name: 'chat' } } }
      const born = await created({ ...API, kind: 'TicketingRoute', metadata: { name: 'chat', namespace: SHOP }, spec })
      expect((await argoHealth(glua, born)).status).to.equal('Progressing')
      await kubectl.apply({ ...API, kind: 'LogPipeline', metadata: { name: 'shop', namespace: SHOP }, spec: { mode: 'AllInOne' } })
      await untilHealth('Degraded', route)
      await secret('chat', { webhookUrl: 'https://chat.example.com/hook' })
      await untilHealth('Healthy', route)
    })
  })
})
