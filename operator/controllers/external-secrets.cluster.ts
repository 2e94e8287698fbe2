/** A LogPipeline whose credentials the real controller of External Secrets brings, and the agent that tells of them. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../dataplane/adapters/clock/system-clock.ts'
import { loadSettings } from '../../dataplane/config/environment.ts'
import { start as startAgent } from '../../dataplane/roles/agent/index.ts'
import { SILENT } from '../../dataplane/telemetry/log.ts'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { orSkip } from '../chart/testing/chart-conformance.ts'
import { shippedCrds, withoutConversion } from '../chart/testing/foreign-crds.ts'
import { type AccountKubeconfig, accountKubeconfig } from '../testing/account-kubeconfig.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, installCrds, openClusterSuite } from '../testing/cluster-suite.ts'
import { EXTERNAL_SECRETS, type ExternalSecretsProcess, findExternalSecrets, startExternalSecrets } from '../testing/external-secrets.ts'

export const needs = ['kubernetes']

/** Time to build the controller, which is built once and kept. */
const BUILD_MS = 12 * 60_000
const API = 'external-secrets.io/v1'
/** Kinds that the controller watches, as it is started here. */
const KINDS = ['externalsecrets.external-secrets.io', 'secretstores.external-secrets.io', 'generatorstates.generators.external-secrets.io']

/** Steps of one story. */
describe('Credentials from the real External Secrets', function () {
  this.timeout(240_000)
  this.bail(true)
  let suite: ClusterSuite
  let crds: readonly ClusterObject[] = []
  let controller: ExternalSecretsProcess | undefined
  let account: AccountKubeconfig | undefined
  let agent: { readonly port: number; stop(): Promise<unknown> } | undefined

  before(async function () {
    this.timeout(BUILD_MS + 120_000)
    const program = await orSkip(this, findExternalSecrets, BUILD_MS)
    const shipped = await orSkip(this, limitMs => shippedCrds(limitMs, module => module.startsWith(EXTERNAL_SECRETS)))
    crds = shipped.filter(({ metadata }) => KINDS.includes(metadata.name)).map(withoutConversion)
    suite = await openClusterSuite('vault')
    await installCrds(suite.objects, crds)
    controller = await startExternalSecrets(program, suite.kubectl.kubeconfig)
    await suite.startOperator()
  })
  after(async () => {
    await agent?.stop()
    account?.close()
    // Its finalizers need it.
    await suite?.objects.remove('ExternalSecret', 'search')
    if (suite !== undefined) await until('the ExternalSecret is gone', async () => (await externalSecret()) === undefined)
    await controller?.stop()
    for (const { metadata } of crds) await suite.objects.remove('CustomResourceDefinition', metadata.name)
    await suite?.close()
  })

  const externalSecret = () => suite.objects.get('ExternalSecret', 'search')
  const store = (values: Readonly<Record<string, string>>) => {
    const data = Object.entries(values).map(([key, value]) => ({ key, value }))
    const metadata = { name: 'vault', namespace: suite.namespace }
    return suite.kubectl.apply({ apiVersion: API, kind: 'SecretStore', metadata, spec: { provider: { fake: { data } } } })
  }
  /** At once: after a failure it would wait longer and longer. */
  const refresh = () => suite.objects.patch('ExternalSecret', 'search', { metadata: { annotations: { 'force-sync': String(Date.now()) } } })
  const rollouts = async (): Promise<Readonly<Record<string, number>>> => {
    const sets = await suite.objects.list('ReplicaSet', 'app.kubernetes.io/instance=shop')
    const components = Map.groupBy(sets, ({ metadata }) => metadata.labels['app.kubernetes.io/component'] as string)
    return Object.fromEntries([...components].map(([component, { length }]) => [component, length]))
  }
  const readyOf = (object: ClusterObject) => conditionOf(object, 'Ready')
  const refreshTime = async () => (await externalSecret()).status.refreshTime as string
  const told = async () => {
    const answer = await fetch(`http://127.0.0.1:${agent!.port}/metrics`)
    return ((await answer.json()) as { readonly secrets: unknown }).secrets
  }
  const untilTold = (status: string, ...secrets: readonly object[]) =>
    until('the agent tells it', async () => {
      expect(await told()).to.deep.equal({ status, externalSecrets: secrets })
      return true
    })

  it('are waited for while the provider cannot give them, and all that does not need them runs', async () => {
    await store({ username: 'logpipeline' })
    const labels = { 'logpipeline.dev/tenant': 'shop' }
    await suite.objects.apply({
      ...{ apiVersion: API, kind: 'ExternalSecret', metadata: { name: 'search', namespace: suite.namespace, labels } },
      spec: {
        refreshInterval: '1s',
        secretStoreRef: { kind: 'SecretStore', name: 'vault' },
        target: { name: 'search-login' },
        data: ['username', 'password'].map(key => ({ secretKey: key, remoteRef: { key } })),
      },
    })
    const search = { endpoint: 'https://search:9200', credentials: { externalSecret: { name: 'search' } } }
    await suite.objects.apply(suite.pipeline('shop', { search }))
    const failed = await suite.objects.until('it fails', 'ExternalSecret', 'search', object => readyOf(object)?.status === 'False')
    expect(readyOf(failed).reason).to.equal('SecretSyncedError')
    const isTold = (pipeline: ClusterObject) =>
      /SecretSyncedError: could not get secret data from provider/.test(conditionOf(pipeline, 'SecretsSynced')?.message)
    const waiting = await suite.objects.until('it is told', 'LogPipeline', 'shop', isTold)
    expect(conditionOf(waiting, 'Reconciling')).to.include({ status: 'True', reason: 'SecretNotSynced' })
    expect(conditionOf(waiting, 'Stalled').status).to.equal('False')
    await suite.objects.condition('LogPipeline', 'shop', 'CollectorAvailable', 'Available')
    expect(await suite.objects.get('Deployment', 'shop-bridge')).to.equal(undefined)
  })

  it('are shown by the agent, with the rights that the operator gave it, as not synchronised', async () => {
    await until('it has its account', async () => (await suite.objects.get('ServiceAccount', 'shop-agent')) !== undefined)
    account = await accountKubeconfig(suite.kubectl, suite.namespace, 'shop-agent')
    const environment = { HOST: '127.0.0.1', PORT: '0', SERVICE_TENANT_ID: 'shop', SEARCH_ENDPOINT: 'http://127.0.0.1:1' }
    const settings = loadSettings('agent', { ...environment, KUBECONFIG: account.path })
    agent = await startAgent({ settings, log: SILENT, clock: systemClock })
    await untilTold('down', { name: 'search', status: 'SecretSyncError', lastSyncTime: null })
  })

  it('are used once they are synchronised', async () => {
    await store({ username: 'logpipeline', password: 'first' })
    await refresh()
    await suite.objects.condition('LogPipeline', 'shop', 'Ready', 'True')
    await suite.objects.condition('LogPipeline', 'shop', 'SecretsSynced', 'True')
    expect(JSON.stringify((await suite.objects.get('Deployment', 'shop-bridge')).spec.template.spec.volumes)).to.contain('"search-login"')
  })

  it('cost no write as long as they are only looked at again', async () => {
    const sinceMs = Date.now()
    for (let seen = await refreshTime(), times = 0; times < 3; times++) {
      const before = seen
      seen = await until('they are refreshed', async () => {
        const now = await refreshTime()
        return now === before ? undefined : now
      })
    }
    expect(operatorWrites(sinceMs, suite.namespace)).to.deep.equal([])
    const { externalSecrets } = (await told()) as { readonly externalSecrets: readonly ClusterObject[] }
    expect(externalSecrets[0]).to.include({ name: 'search', status: 'SecretSynced' })
    expect(Date.parse(externalSecrets[0].lastSyncTime)).to.be.within(sinceMs - 2000, Date.now())
  })

  it('roll their readers once when they are rotated, and nobody else', async () => {
    const before = await rollouts()
    await store({ username: 'logpipeline', password: 'second' })
    await until('the readers roll', async () => (await rollouts())['bridge'] === before['bridge']! + 1)
    await suite.objects.condition('LogPipeline', 'shop', 'Ready', 'True')
    const seen = await refreshTime()
    await until('they are refreshed again', async () => (await refreshTime()) !== seen)
    expect(before).to.deep.equal({ collector: 1, bridge: 1, ticketing: 1, agent: 1 })
    expect(await rollouts()).to.deep.equal({ collector: 1, bridge: 2, ticketing: 2, agent: 2 })
  })

  it('are kept when the provider loses them later; pipeline and agent say so, and when it is over', async () => {
    const { objects } = suite
    await store({ username: 'logpipeline' })
    const stale = await objects.condition('LogPipeline', 'shop', 'SecretsSynced', 'SecretNotSynced')
    expect(conditionOf(stale, 'Ready').status, 'what runs keeps running').to.equal('True')
    const lastSyncTime = await refreshTime()
    await untilTold('down', { name: 'search', status: 'SecretSyncError', lastSyncTime })
    await store({ username: 'logpipeline', password: 'second' })
    await refresh()
    await objects.condition('LogPipeline', 'shop', 'SecretsSynced', 'True')
    await until('the agent tells it', async () => ((await told()) as { readonly status: string }).status === 'healthy')
    expect(await rollouts()).to.deep.equal({ collector: 1, bridge: 2, ticketing: 2, agent: 2 })
  })
})
