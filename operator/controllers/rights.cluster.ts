import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { chartRules, createServiceAccount, type ServiceAccount, withoutVerb } from '../testing/cluster-account.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorRequests } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite, untilReady } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

/** Something of everything that does not need other operators. */
const MUCH = {
  collector: { autoscaling: { minReplicas: 2, maxReplicas: 4 } },
  stream: { enabled: true },
  features: { enabled: true, onlineStore: { url: 'redis://valkey:6379' } },
}

describe('The operator with the rights that the chart gives it', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let account: ServiceAccount
  let operator: OperatorProcess
  const rules = chartRules()
  before(async () => {
    suite = await openClusterSuite('rights')
    account = await createServiceAccount(suite, 'operator')
    await account.grant(rules)
    operator = await start({})
  })
  after(async () => {
    await account.close()
    await suite.close()
  })

  const start = (settings: Readonly<Record<string, string>>) =>
    suite.startOperator({ KUBECONFIG: account.kubeconfig, LEADER_ELECTION: 'true', ...settings })
  const refusals = (sinceMs: number) =>
    operatorRequests(sinceMs).filter(({ code, namespace }) => code === 403 && (namespace === '' || namespace === suite.namespace))

  it('can do all that it has to: make, change, tell, remove, lead', async () => {
    const { objects, namespace } = suite
    const startMs = Date.now()
    await suite.ready('shop', MUCH)
    await suite.ready('shop', { ...MUCH, logLevel: 'debug', agent: { enabled: false }, networkPolicy: { enabled: false } })
    await until('the agent is gone', async () => (await objects.get('Role', 'shop-agent')) === undefined)
    await objects.apply({
      apiVersion: 'logpipeline.dev/v1alpha1',
      kind: 'LogPipeline',
      metadata: { name: 'one', namespace },
      spec: { mode: 'AllInOne' },
    })
    await objects.condition('LogPipeline', 'one', 'Ready', 'True')
    await until('events are written', async () => (await objects.list('Event')).some(({ regarding }) => regarding.name === 'one'))
    expect(refusals(startMs)).to.deep.equal([])
    expect(operator.output()).not.to.match(/"level":"(warn|error)"/)
  })

  it('without one verb says which, goes on with everything else, and with the rest once it has it', async () => {
    const { objects } = suite
    await suite.ready('before')
    await account.grant(withoutVerb(rules, 'services', 'patch'))
    await until('the right is taken away', async () => {
      const answer = await suite.kubectl.run(['auth', 'can-i', 'patch', 'services', '--as', account.user]).catch(() => 'no')
      return answer.trim() === 'no'
    })
    await objects.apply(suite.pipeline('poor'))
    const told = await objects.condition('LogPipeline', 'poor', 'ObjectsApplied', 'Forbidden')
    const { message } = conditionOf(told, 'Stalled')
    expect(message).to.contain(`User "${account.user}" cannot patch resource "services"`)
    expect(message).to.contain(`grant ${account.user} the RBAC rule {apiGroups: [""], resources: ["services"], verbs: ["patch"]}`)
    await objects.condition('LogPipeline', 'poor', 'CollectorAvailable', 'Available')
    await suite.ready('before', { logLevel: 'debug' })
    await account.grant(rules)
    await objects.condition('LogPipeline', 'poor', 'Ready', 'True')
  })

  it('without the right to read Secrets says which, holds what needs them, and goes on once it has it', async () => {
    const { objects, namespace } = suite
    await account.grant(withoutVerb(rules, 'secrets', 'get'))
    await until('the right is taken away', async () => {
      const answer = await suite.kubectl.run(['auth', 'can-i', 'get', 'secrets', '--as', account.user]).catch(() => 'no')
      return answer.trim() === 'no'
    })
    await objects.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'unseen', namespace },
      stringData: { username: 'u', password: 'p' },
    })
    await objects.apply(
      suite.pipeline('blind', { search: { endpoint: 'https://search:9200', credentials: { secret: { name: 'unseen' } } } }),
    )
    const told = await objects.condition('LogPipeline', 'blind', 'SecretsSynced', 'Forbidden')
    expect(conditionOf(told, 'Stalled').message).to.contain(
      `grant ${account.user} the RBAC rule {apiGroups: [""], resources: ["secrets"], verbs: ["get"]} in namespace ${namespace}`,
    )
    await objects.condition('LogPipeline', 'blind', 'CollectorAvailable', 'Available')
    expect(await objects.get('Deployment', 'blind-bridge')).to.equal(undefined)
    await account.grant(rules)
    await objects.condition('LogPipeline', 'blind', 'Ready', 'True')
  })

  it('without the right to write a status says so in its log, makes the objects all the same, and tells all later', async () => {
    const { objects } = suite
    await account.grant(withoutVerb(rules, 'logpipelines/status', 'patch'))
    await objects.apply(suite.pipeline('mute'))
    await until('it says so', () => /cannot patch logpipelines.logpipeline.dev\/status mute/.test(operator.output()))
    expect(operator.output()).to.contain('resources: [\\"logpipelines/status\\"], verbs: [\\"patch\\"]')
    await objects.until('the bridge is there', 'Deployment', 'mute-bridge', () => true)
    await account.grant(rules)
    await objects.condition('LogPipeline', 'mute', 'Ready', 'True')
  })

  it('that may not list a kind is not ready and says why, and begins once it may', async () => {
    await operator.stop()
    await account.grant(withoutVerb(rules, 'poddisruptionbudgets', 'list'))
    operator = await start({})
    const ready = async () => (await fetch(`${operator.url}/readyz`)).text()
    await until('it says why', async () => /cannot list poddisruptionbudgets/.test(await ready()))
    expect(await ready()).to.match(
      /\[-\]cache failed: .*grant .* resources: \["poddisruptionbudgets"\], verbs: \["list"\]\} in all namespaces/,
    )
    await account.grant(rules)
    await untilReady(operator)
  })

  it('needs Roles in its namespaces alone when it is told them (WATCH_NAMESPACES), and sees nothing of others', async () => {
    const beside = await suite.namespaceBeside()
    const confined = await createServiceAccount(suite, 'confined')
    try {
      await operator.stop()
      const startMs = Date.now()
      await confined.grantIn(suite.namespace, rules)
      await suite.startOperator({ KUBECONFIG: confined.kubeconfig, LEADER_ELECTION: 'true', WATCH_NAMESPACES: suite.namespace })
      await beside.objects.apply({ ...suite.pipeline('elsewhere'), metadata: { name: 'elsewhere', namespace: beside.name } })
      await suite.ready('mine', MUCH)
      const { message } = conditionOf(await beside.objects.get('LogPipeline', 'elsewhere'), 'Ready')
      expect(message, 'as it was created').to.equal('waits for the operator')
      expect(refusals(startMs)).to.deep.equal([])
    } finally {
      await confined.close()
    }
  })
})
