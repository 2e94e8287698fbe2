import type { V1Ingress, V1NetworkPolicy, V1Service } from '@kubernetes/client-node'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { buildPipeline, type PipelineInput, planOf } from './testing/build-pipeline.ts'
import { readFixture } from './testing/golden-files.ts'
import { containerOf, workloadOf } from './testing/pod-view.ts'

const distributed = readFixture('distributed')
const allInOne = readFixture('all-in-one')

function withSpec(input: PipelineInput, spec: Partial<LogPipelineSpec>): PipelineInput {
  const { pipeline } = input.gathered
  return { ...input, gathered: { ...input.gathered, pipeline: { ...pipeline, spec: { ...pipeline.spec, ...spec } } } }
}

interface Rule {
  readonly ports: readonly { readonly port: string }[]
  readonly from?: readonly { readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> } }[]
}

const namesOf = (input: PipelineInput, kind: string) =>
  buildPipeline(input)
    .filter(object => object.kind === kind)
    .map(({ metadata }) => metadata.name)
const find = <T>(input: PipelineInput, kind: string, name: string) =>
  buildPipeline(input).find(object => object.kind === kind && object.metadata.name === name) as unknown as T
const settingOf = (input: PipelineInput, workload: string, name: string) =>
  containerOf(workloadOf(buildPipeline(input), workload)).env!.find(variable => variable.name === name)?.value

describe('gateway and dashboard', () => {
  it('are not there in mode Distributed unless asked for', () => {
    const names = buildPipeline(distributed).map(({ metadata }) => metadata.name)
    expect(names.filter(name => /gate|dashboard/.test(name))).to.deep.equal([])
    expect(planOf(distributed).facts.endpoints).not.to.have.any.keys('gateway', 'dashboard')
  })

  it('are Deployments with Services on 8443 and 3000, of which the gateway has two pods and a budget', () => {
    const input = withSpec(distributed, { gateway: { enabled: true }, dashboard: { enabled: true } })
    expect(namesOf(input, 'Deployment')).to.include.members(['shop-gateway', 'shop-dashboard'])
    expect(workloadOf(buildPipeline(input), 'shop-gateway').spec.replicas).to.equal(2)
    expect(namesOf(input, 'PodDisruptionBudget')).to.deep.equal(['shop-collector', 'shop-gateway'])
    const portsOf = (name: string) => find<V1Service>(input, 'Service', name).spec!.ports!.map(({ port }) => port)
    expect([portsOf('shop-gateway'), portsOf('shop-gate-health'), portsOf('shop-dashboard')]).to.deep.equal([[8443], [8444], [3000]])
    expect(planOf(input).facts.endpoints).to.include({
      gateway: 'https://shop-gateway.observability.svc:8443',
      dashboard: 'http://shop-dashboard.observability.svc:3000',
    })
  })

  it('are in the pod of mode AllInOne, behind Services of the same names; switched off they are shut', () => {
    expect(namesOf(allInOne, 'Service')).to.include.members(['small-gateway', 'small-dashboard'])
    expect(planOf(allInOne).facts.endpoints).to.include({
      gateway: 'https://small-gateway.default.svc:8443',
      dashboard: 'http://small-dashboard.default.svc:3000',
    })
    const ingress = { host: 'a.example' }
    const off = withSpec(allInOne, {
      gateway: { enabled: false, ingress },
      dashboard: { enabled: false, ingress, allowFrom: [{ a: 'b' }] },
    })
    expect(namesOf(off, 'Service')).to.not.include.members(['small-gateway', 'small-dashboard'])
    expect(namesOf(off, 'Ingress')).to.deep.equal([])
    expect(planOf(off).facts.endpoints).not.to.have.any.keys('gateway', 'dashboard')
    const policy = JSON.stringify(find<V1NetworkPolicy>(off, 'NetworkPolicy', 'small').spec)
    expect(policy).not.to.match(/"gateway"|"dashboard"|namespaceSelector/)
  })

  it('are reached by all (the gateway, with a key) and by those that are named (the dashboard, without one)', () => {
    const open = { gateway: { enabled: true }, dashboard: { enabled: true, allowFrom: [{ team: 'web' }] } }
    const input = withSpec(distributed, { ...open, networkPolicy: { enabled: true, allowFrom: [{ team: 'metrics' }] } })
    const rulesOf = (name: string) => {
      const { ingress } = find<{ readonly spec: { readonly ingress: readonly Rule[] } }>(input, 'NetworkPolicy', name).spec
      return ingress.map(({ from = [], ports }) => [
        ports.map(({ port }) => port),
        from.map(({ namespaceSelector }) => namespaceSelector?.matchLabels['team'] ?? 'own'),
      ])
    }
    expect(rulesOf('shop-gateway')).to.deep.equal([
      [['https'], []],
      [['health'], ['own', 'metrics']],
    ])
    expect(rulesOf('shop-dashboard')).to.deep.equal([
      [['http'], ['own', 'metrics']],
      [['http'], ['web']],
    ])
    const others = ['shop-bridge', 'shop-ticketing', 'shop-agent'].map(rulesOf)
    expect(JSON.stringify(others)).not.to.include('web')
  })
})

describe('an Ingress', () => {
  const tls = { secretName: 'ingest-tls' }
  const input = withSpec(distributed, {
    gateway: { enabled: true, tls, ingress: { host: 'ingest.example', annotations: { 'example.com/a': 'b' } } },
    dashboard: { enabled: true, ingress: { host: 'logs.example', className: 'nginx', tls: { secretName: 'logs-tls' } } },
  })
  const ingress = (name: string, of = input) => find<V1Ingress>(of, 'Ingress', name)

  it('of the gateway is one for HTTP and one for gRPC, as a controller may know one protocol for each', () => {
    for (const [name, protocol, path, pathType] of [
      ['shop-gateway', 'HTTPS', '/', 'Prefix'],
      ['shop-gateway-grpc', 'GRPCS', '/opentelemetry.proto.collector.logs.v1.LogsService/', 'ImplementationSpecific'],
    ] as const) {
      const { metadata, spec } = ingress(name)
      expect(metadata!.annotations).to.include({ 'nginx.ingress.kubernetes.io/backend-protocol': protocol, 'example.com/a': 'b' })
      const backend = { service: { name: 'shop-gateway', port: { name: 'https' } } }
      expect(spec!.rules).to.deep.equal([{ host: 'ingest.example', http: { paths: [{ path, pathType, backend }] } }])
      expect(spec).not.to.have.property('ingressClassName')
    }
  })

  it('has the certificate of the gateway unless it has one of its own', () => {
    expect(ingress('shop-gateway').spec!.tls).to.deep.equal([{ hosts: ['ingest.example'], secretName: 'ingest-tls' }])
    expect(ingress('shop-dashboard').spec!.tls).to.deep.equal([{ hosts: ['logs.example'], secretName: 'logs-tls' }])
    const own = withSpec(input, { gateway: { enabled: true, tls, ingress: { host: 'a', tls: { secretName: 'other' } } } })
    expect(ingress('shop-gateway', own).spec!.tls).to.deep.equal([{ hosts: ['a'], secretName: 'other' }])
    expect(ingress('shop-dashboard', withSpec(input, { dashboard: { enabled: true, ingress: { host: 'a' } } })).spec).not.to.have.property(
      'tls',
    )
  })

  it('lets annotations of the user win', () => {
    const annotations = { 'nginx.ingress.kubernetes.io/proxy-body-size': '10m' }
    const changed = withSpec(input, { gateway: { enabled: true, ingress: { host: 'a', annotations } } })
    expect(ingress('shop-gateway', changed).metadata!.annotations).to.include(annotations)
  })

  it('of the dashboard is where tickets link to, and which origin the dashboard trusts, unless the resource says', () => {
    for (const workload of ['shop-ticketing', 'shop-dashboard']) {
      expect(settingOf(input, workload, 'PUBLIC_URL')).to.equal('https://logs.example')
      expect(settingOf(withSpec(input, { ticketing: { publicUrl: 'https://a.example/x' } }), workload, 'PUBLIC_URL')).to.equal(
        'https://a.example/x',
      )
      const plain = { enabled: true, ingress: { host: 'logs.example' } }
      expect(settingOf(withSpec(input, { dashboard: plain }), workload, 'PUBLIC_URL')).to.equal('http://logs.example')
      const many = { enabled: true, ingress: { host: '*.example' } }
      expect(settingOf(withSpec(input, { dashboard: many }), workload, 'PUBLIC_URL')).to.equal(undefined)
    }
  })
})
