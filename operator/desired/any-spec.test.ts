import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { settingsOfRole } from '../../dataplane/contract/env.ts'
import type { RoleName } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { readLogPipeline } from '../api/read-object.ts'
import { admit } from '../api/testing/admission.ts'
import { pipelineStatus } from '../observed/conditions.ts'
import type { Secret } from '../observed/foreign-kinds.ts'
import { viewPipeline } from '../observed/pipeline-view.ts'
import { gatheredFrom } from '../observed/testing/gathered-from.ts'
import { planOf } from './testing/build-pipeline.ts'
import { containerOf, workloadsOf } from './testing/pod-view.ts'
import { settingsIssues } from './testing/settings-issues.ts'

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const replicas = some(fc.integer({ min: 0, max: 5 }))
const autoscaling = some(fc.record({ minReplicas: fc.integer({ min: 1, max: 3 }), maxReplicas: fc.integer({ min: 3, max: 9 }) }))
const credentials = fc.constantFrom({ secret: { name: 'all' } }, { externalSecret: { name: 'all' } })

const port = fc.integer({ min: 0, max: 99_999 })
const host = fc.oneof(
  fc.constantFrom('a', 'a.example', '[::1]', '1.2.3.4', '1.2.3.999', 'a_b', '%'),
  fc.stringMatching(/^[a-z%|^.-]{1,8}$/),
)
const hostAndPort = fc.tuple(host, port).map(([name, number]) => `${name}:${number}`)
const url = (...schemes: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...schemes), fc.oneof(host, hostAndPort), fc.constantFrom('', '/', '/path'))
    .map(([scheme, ...rest]) => `${scheme}://${rest.join('')}`)

const detection = {
  anomalyThreshold: some(fc.constantFrom(0.5, 100, 0.000_001)),
  windowSize: some(fc.integer({ min: 10, max: 100_000 })),
}
const days = { retentionDays: some(fc.integer({ min: 1, max: 3_650 })), incidentRetentionDays: some(fc.integer({ min: 1, max: 36_500 })) }
const indices = { ...days, shards: some(fc.integer({ min: 1, max: 9 })) }
const service = some(fc.constant({ type: 'LoadBalancer' }))
const ingress = some(fc.record({ host: fc.constantFrom('a.example', '*.a.example'), tls: some(fc.constant({ secretName: 'all' })) }))
const gateway = {
  enabled: some(fc.boolean()),
  tls: some(fc.constant({ secretName: 'all' })),
  bootstrapKey: some(credentials),
  requestsPerSecond: some(fc.integer({ min: 1, max: 1_000_000 })),
  adminTenants: some(fc.constantFrom(['a', 'b'], [])),
  service,
  ingress,
}
const dashboard = { enabled: some(fc.boolean()), credentials: some(credentials), ingress, allowFrom: some(fc.constant([{ a: 'b' }])) }
const common = {
  tenant: fc.stringMatching(/^[a-z0-9]{1,63}$/),
  logLevel: some(fc.constantFrom('debug', 'error')),
  agent: some(fc.record({ enabled: fc.boolean() })),
}
const bus = fc.record({
  topics: fc.constantFrom('Managed', 'Existing'),
  topicPrefix: some(fc.stringMatching(/^[A-Za-z0-9._-]{1,200}$/)),
  replicationFactor: some(fc.integer({ min: 1, max: 32 })),
  tls: some(fc.record({ caSecret: some(fc.constant({ name: 'all' })), clientSecret: some(fc.constant({ name: 'all' })) })),
  sasl: some(fc.record({ username: some(fc.constant('u')), credentials })),
})
const address = fc.constantFrom({ bootstrapServers: ['kafka:9092', '[::1]:9093'] }, { strimzi: { cluster: 'k' } })

const DISTRIBUTED = fc.record({
  ...common,
  bus: fc.tuple(address, bus).map(([one, other]) => ({ ...one, ...other })),
  search: fc.record({ endpoint: fc.constantFrom('https://search:9200', 'http://search'), credentials: some(credentials), ...indices }),
  collector: some(fc.record({ replicas, autoscaling, service })),
  gateway: some(fc.record({ replicas, autoscaling, ...gateway })),
  dashboard: some(fc.record({ replicas, ...dashboard })),
  bridge: some(fc.record({ replicas, autoscaling, ...detection })),
  stream: some(fc.record({ enabled: fc.boolean(), replicas, autoscaling })),
  features: some(
    fc.record({
      enabled: fc.boolean(),
      onlineStore: fc.constantFrom({ url: 'redis://a:1' }, { credentials: { secret: { name: 'all' } } }),
    }),
  ),
})

const ALL_IN_ONE = fc.record({
  ...common,
  mode: fc.constant('AllInOne'),
  search: some(fc.record(indices)),
  collector: some(fc.record({ service })),
  gateway: some(fc.record(gateway)),
  dashboard: some(fc.record(dashboard)),
  bridge: some(fc.record(detection)),
  features: some(fc.record({ enabled: fc.boolean() })),
})

const PEM = btoa('-----BEGIN CERTIFICATE-----')
const ALL: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'all', namespace: 'ns' },
  data: {
    ...{ username: 'YQ==', password: btoa('password'), url: btoa('redis://u:p@a:1'), apiKey: btoa(`svc_proj_${'0'.repeat(64)}`) },
    ...{ 'ca.crt': PEM, 'tls.crt': PEM, 'tls.key': PEM },
  },
}
const EXTERNAL: KubernetesObject = { ...ALL, kind: 'ExternalSecret', status: { conditions: [{ type: 'Ready', status: 'True' }] } }
const KAFKA: KubernetesObject = {
  ...ALL,
  kind: 'Kafka',
  status: { conditions: [{ type: 'Ready', status: 'True' }], listeners: [{ name: 'a', bootstrapServers: 'k:1' }] },
}

const pipelineOf = (spec: object): KubernetesObject => ({
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'LogPipeline',
  metadata: { name: 'p'.repeat(50), namespace: 'ns', uid: 'u', generation: 1 },
  spec: JSON.parse(JSON.stringify(spec)) as object,
})
const AnyPipeline = fc.oneof(DISTRIBUTED, ALL_IN_ONE).map(pipelineOf)

const AnyAddresses = fc
  .record({
    bus: fc.record({ bootstrapServers: fc.array(hostAndPort, { minLength: 1, maxLength: 3 }) }),
    search: fc.record({ endpoint: url('http', 'https') }),
    ticketing: fc.record({ publicUrl: some(url('http', 'https')) }),
    dashboard: fc.record({ enabled: fc.constant(true), ingress: some(fc.record({ host })) }),
    features: fc.record({ enabled: fc.constant(true), onlineStore: fc.record({ url: url('redis', 'rediss') }) }),
  })
  .map(pipelineOf)
  .filter(pipeline => admit('LogPipeline', pipeline).problems.length === 0)

/** Each setting of each pod is one of its role, and of a form that the role takes. */
function expectUsableSettings(input: Parameters<typeof planOf>[0]): void {
  for (const workload of workloadsOf(planOf(input).objects)) {
    const role = containerOf(workload).args!.join(' ') as RoleName
    const known = settingsOfRole(role).map(([name]) => name as string)
    const given = containerOf(workload).env!.map(({ name, value = '' }) => [name, value] as const)
    const plain = given.filter(([name]) => known.includes(name))
    for (const [name] of given) expect(known.includes(name) || known.includes(name.replace(/_FILE$/, '')), `${role} ${name}`).to.equal(true)
    expect(settingsIssues(role, Object.fromEntries(plain))).to.deep.equal([])
  }
}

describe('any LogPipeline that the API server takes', () => {
  /** `gatheredFrom` refuses what the API server would. */
  const check = (property: (input: Parameters<typeof planOf>[0]) => void) =>
    fc.assert(
      fc.property(AnyPipeline, pipeline =>
        property({ gathered: gatheredFrom([pipeline, ALL, EXTERNAL, KAFKA]), settings: { image: 'logpipeline:1' } }),
      ),
      { seed: 20_261_121, numRuns: 50 },
    )

  it('gives objects of distinct names that fit, and holds none back when all is there', () => {
    check(input => {
      const { objects, held } = planOf(input)
      expect(held).to.deep.equal([])
      expect(new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).to.equal(objects.length)
      for (const { kind, metadata } of objects) expect(metadata.name.length).to.be.at.most(kind === 'KafkaTopic' ? 253 : 63)
    })
  })

  it('gives pods settings that their roles take', () => check(expectUsableSettings))

  it('gives pods addresses that their roles take, or names the field as the operator reads it', () => {
    let refused = 0
    const property = fc.property(AnyAddresses, pipeline => {
      const { problems } = readLogPipeline(admit<KubernetesObject>('LogPipeline', pipeline).object)
      if (problems === undefined) return expectUsableSettings({ gathered: gatheredFrom([pipeline]), settings: { image: 'logpipeline:1' } })
      refused += 1
      expect(problems.join()).to.match(/^spec[.][a-z.]*[A-Za-z0-9.[\]]+: expected /)
    })
    fc.assert(property, { seed: 20_261_128, numRuns: 300 })
    expect(refused).to.be.within(1, 299)
  })

  it('has a status that the CRD takes', () => {
    check(input => {
      const { pipeline } = input.gathered
      const status = pipelineStatus({ view: viewPipeline(input.gathered), desired: planOf(input).facts, now: '2026-11-21T12:00:00Z' })
      expect(admit('LogPipeline', { ...pipeline, status }).problems).to.deep.equal([])
    })
  })
})
