import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

const ADMISSION = 'admissionregistration.k8s.io/v1'

describe('LogPipelines that are broken, on a real API server', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let operator: OperatorProcess
  let policy: string
  before(async () => {
    suite = await openClusterSuite('broken')
    policy = `refuses-${suite.namespace}`
    operator = await suite.startOperator()
  })
  after(async () => {
    await suite.objects.remove('ValidatingAdmissionPolicyBinding', policy)
    await suite.objects.remove('ValidatingAdmissionPolicy', policy)
    await suite.close()
  })

  /** How long a sound pipeline takes to be Ready. */
  const readyMs = async (name: string): Promise<number> => {
    const startMs = Date.now()
    await suite.ready(name)
    return Date.now() - startMs
  }

  it('slow no other: objects or statuses that an admission policy refuses', async () => {
    const { objects } = suite
    const aloneMs = await readyMs('alone')
    const isRefused = `object.metadata.name.startsWith('refused') && object.kind != 'LogPipeline' || object.metadata.name.startsWith('mute') && object.kind == 'LogPipeline'`
    await refuse(isRefused, 'not wanted here')
    await until('the policy is in force', async () => {
      const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'refused-probe', namespace: suite.namespace } }
      return objects.apply(probe).then(
        () => false,
        () => true,
      )
    })
    const names = Array.from({ length: 5 }, (_, n) => `refused-${n}`)
    const startMs = Date.now()
    for (const name of [...names, 'mute']) await objects.apply(suite.pipeline(name))
    const told = await objects.condition('LogPipeline', 'refused-0', 'Stalled', 'AdmissionDenied')
    expect(conditionOf(told, 'Stalled').message).to.contain('not wanted here')
    expect(conditionOf(told, 'Stalled').message).not.to.contain('grant')
    expect(await readyMs('among'), 'milliseconds').to.be.below(3 * aloneMs + 5000)
    expect(operatorWrites(startMs, suite.namespace).filter(write => / among(-|$| )/.test(write) && !/ 20[01]$/.test(write))).to.deep.equal(
      [],
    )
    await objects.until('what may be written is written', 'Deployment', 'mute-bridge', () => true)
    expect(operator.output()).to.match(/cannot patch logpipelines.logpipeline.dev\/status mute .*not wanted here/)
    for (const name of names) await objects.remove('LogPipeline', name)
  })

  async function refuse(expression: string, message: string): Promise<void> {
    const { objects, namespace } = suite
    const rule = { apiVersions: ['*'], operations: ['CREATE', 'UPDATE'] }
    const resourceRules = [
      { ...rule, apiGroups: ['apps', ''], resources: ['deployments', 'configmaps'] },
      { ...rule, apiGroups: ['logpipeline.dev'], resources: ['logpipelines/status'] },
    ]
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression: `!(${expression})`, message }] }
    await objects.apply({ apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicy', metadata: { name: policy }, spec })
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    const binding = { policyName: policy, validationActions: ['Deny'], matchResources: { namespaceSelector } }
    await objects.apply({ apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: policy }, spec: binding })
  }

  it('say what a quota keeps them from, in its words', async () => {
    const { name: namespace, objects } = await suite.namespaceBeside()
    const hard = { 'count/deployments.apps': '2' }
    await objects.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'two', namespace }, spec: { hard } })
    await objects.until('the quota is known', 'ResourceQuota', 'two', ({ status }) => status?.hard !== undefined)
    await objects.apply({ ...suite.pipeline('many'), metadata: { name: 'many', namespace } })
    const told = await objects.condition('LogPipeline', 'many', 'Stalled', 'QuotaExceeded')
    expect(conditionOf(told, 'Stalled').message).to.contain('exceeded quota: two, requested: count/deployments.apps=1')
    expect(await objects.list('Deployment')).to.have.length(2)
    await objects.remove('ResourceQuota', 'two')
    await objects.condition('LogPipeline', 'many', 'Ready', 'True')
  })

  it('may have the longest names there are', async () => {
    const { objects, namespace } = suite
    const long = `l${'o'.repeat(48)}g`
    const everything = { stream: { enabled: true }, features: { enabled: true, onlineStore: { url: 'redis://valkey:6379' } } }
    await suite.ready(long, { ...everything, tenant: 't'.repeat(63), collector: { autoscaling: { maxReplicas: 3 } } })
    const one = `s${'i'.repeat(48)}g`
    await objects.apply({
      apiVersion: 'logpipeline.dev/v1alpha1',
      kind: 'LogPipeline',
      metadata: { name: one, namespace },
      spec: { mode: 'AllInOne' },
    })
    await objects.condition('LogPipeline', one, 'Ready', 'True')
    const refused = await objects.apply(suite.pipeline(`${long}g`)).catch(({ message }: Error) => message)
    expect(refused).to.contain('metadata.name: expected at most 50 of a-z')
  })

  const SECRET = { secret: { name: 'none' } }
  const tls = { caSecret: { name: 'none' }, clientSecret: { name: 'none' } }
  const features = { enabled: true, onlineStore: { credentials: SECRET } }
  const NOTHING: readonly (readonly [what: string, spec: object, reason: string, fields: readonly string[]])[] = [
    ['a Kafka of Strimzi', { bus: { strimzi: { cluster: 'none' } } }, 'StrimziNotInstalled', ['spec.bus.strimzi']],
    [
      'Secrets everywhere',
      {
        bus: { bootstrapServers: ['kafka:9092'], tls, sasl: { credentials: SECRET } },
        search: { endpoint: 'https://search:9200', credentials: SECRET, caSecret: { name: 'none' } },
        ...{ features, ticketing: { llm: { provider: 'openai', model: 'm', credentials: SECRET } } },
      },
      'MissingSecret',
      [
        'spec.bus.tls.caSecret.name',
        'spec.bus.tls.clientSecret.name',
        'spec.bus.sasl.credentials.secret.name',
        'spec.search.caSecret.name',
      ],
    ],
    [
      'an autoscaler of KEDA',
      { bridge: { autoscaling: { maxReplicas: 3, keda: true } } },
      'KedaNotInstalled',
      ['spec.bridge.autoscaling.keda'],
    ],
  ]
  for (const [index, [what, spec, reason, fields]] of NOTHING.entries())
    it(`say which field refers to ${what} that is not there`, async () => {
      const name = `nothing-${index}`
      const { bus = suite.pipeline('x').spec.bus } = spec as ClusterObject
      // Applied whole: what another manager set before would stay.
      await suite.objects.apply(suite.pipeline(name, { ...spec, bus }))
      const { status } = await suite.objects.condition('LogPipeline', name, 'Stalled', reason)
      for (const field of fields)
        expect(conditionOf({ status }, reason === 'MissingSecret' ? 'SecretsSynced' : 'Stalled').message).to.contain(field)
      await suite.objects.condition('LogPipeline', name, 'TicketingAvailable', index === 1 ? 'MissingSecret' : 'Available')
      expect(operator.output()).not.to.contain('broke off')
    })
})
