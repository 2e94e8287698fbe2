import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Condition } from '../api/status.ts'
import {
  DISTRIBUTED,
  messageOf,
  NOW,
  pipelineObject,
  progressing,
  running,
  SETTLED,
  SPEC,
  stalled,
  statusOf,
  summary,
} from './testing/status-of.ts'

describe('status of a LogPipeline', () => {
  it('is Ready when all components are', () => {
    const status = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)])
    expect(summary(status)).to.deep.equal({
      Ready: 'True Ready',
      ...SETTLED,
      Paused: 'False NotPaused',
      SecretsSynced: 'True Synced',
      BusReady: 'True Connected',
      EncryptionKeyReady: 'True Found',
      TopicsExclusive: 'True Exclusive',
      ObjectsApplied: 'True Applied',
      DisruptionBudgetsReady: 'True Respected',
      CollectorAvailable: 'True Available',
      BridgeAvailable: 'True Available',
      TicketingAvailable: 'True Available',
      AgentAvailable: 'True Available',
      SearchReady: 'True Connected',
    })
    expect(status.observedGeneration).to.equal(3)
    for (const { observedGeneration, lastTransitionTime } of status.conditions!)
      expect([observedGeneration, lastTransitionTime]).to.deep.equal([3, NOW])
    expect(status.components).to.deep.include({ collector: { desired: 2, ready: 2, updated: 2, image: 'logpipeline:1' } })
    expect(status).to.deep.include({
      endpoints: { otlpHttp: 'http://shop-collector.ns.svc:4318' },
      inputsHash: 'h',
      selector: 'a=b',
      replicas: 1,
    })
  })

  it('is there from the first sight on, before any object is', () => {
    expect(summary(statusOf([pipelineObject(SPEC)]))).to.include({ ...progressing('Creating'), SearchReady: 'Unknown NotChecked' })
  })

  it('is Ready in mode AllInOne when its one pod is', () => {
    const status = statusOf([pipelineObject({ mode: 'AllInOne' }), ...running(['standalone'])])
    expect(summary(status)).to.deep.equal({
      Ready: 'True Ready',
      ...SETTLED,
      Paused: 'False NotPaused',
      SecretsSynced: 'True Synced',
      BusReady: 'True Embedded',
      ObjectsApplied: 'True Applied',
      StandaloneAvailable: 'True Available',
      SearchReady: 'True Embedded',
    })
  })

  it('keeps the time of a condition whose status stays, and only that', () => {
    const before: readonly Condition[] = ['Ready', 'CollectorAvailable'].map(type => ({
      type,
      status: 'True',
      reason: 'Ready',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }))
    const old = { ...pipelineObject(SPEC), status: { conditions: before } }
    const { conditions = [] } = statusOf([old, ...running(['collector'])])
    const times = Object.fromEntries(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
    expect(times).to.include({ Ready: NOW, CollectorAvailable: '2026-01-01T00:00:00Z', BridgeAvailable: NOW })
  })

  it('does not change when nothing does', () => {
    const objects = [pipelineObject(SPEC), ...running(DISTRIBUTED)]
    const first = statusOf(objects)
    expect(statusOf([{ ...objects[0]!, status: first }, ...objects.slice(1)])).to.deep.equal(first)
  })

  it('is cut off where the API server would refuse it', () => {
    const problems = Array.from({ length: 100 }, (_, i) => ({
      object: { apiVersion: 'v1', kind: 'Service', name: `s${i}` },
      reason: 'Forbidden' as const,
      message: 'x'.repeat(100),
    }))
    expect(messageOf(statusOf([pipelineObject(SPEC)], { problems }), 'ObjectsApplied').length).to.equal(2_000)
  })
})

describe('a LogPipeline that is paused', () => {
  for (const [name, paused] of [
    ['by its spec', pipelineObject({ ...SPEC, paused: true })],
    ['by an annotation', pipelineObject(SPEC, { annotations: { 'logpipeline.dev/paused': 'true' } })],
  ] as const) {
    it(`${name}: its status is kept up to date`, () => {
      expect(summary(statusOf([paused, ...running(DISTRIBUTED)]))).to.include({ Ready: 'True Ready', Paused: 'True Paused' })
      expect(summary(statusOf([paused]))).to.include({ ...stalled('Paused'), CollectorAvailable: 'False Paused' })
    })
  }
})

describe('objects of a LogPipeline that could not be applied', () => {
  const service = { apiVersion: 'v1', kind: 'Service', name: 'shop-bridge' }
  for (const [reason, expected] of [
    ['ForeignObject', stalled('ForeignObject')],
    ['Forbidden', stalled('Forbidden')],
    ['Invalid', stalled('Invalid')],
    ['ApplyFailed', progressing('ApplyFailed')],
  ] as const) {
    it(reason, () => {
      const status = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], {
        problems: [{ object: service, reason, message: 'belongs to Helm' }],
      })
      expect(summary(status)).to.include({ ...expected, ObjectsApplied: `False ${reason}` })
      expect(messageOf(status, 'Ready')).to.equal('Service shop-bridge: belongs to Helm')
    })
  }

  it('is told in one line, as kubectl get shows no more of a message', () => {
    const message =
      'failed to create typed patch object (shop/shop-bridge; v1, Kind=Service): errors:\n  .spec.a: no such field\n  .spec.b: no such field\n'
    const status = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], {
      problems: [{ object: service, reason: 'Invalid', message }],
    })
    for (const type of ['Ready', 'Stalled', 'ObjectsApplied'])
      expect(messageOf(status, type)).to.match(/: errors: \.spec\.a: no such field \.spec\.b: no such field$/)
  })

  it('ChangedByOthers: it is told and takes nothing from Ready; beside another problem it is not the cause', () => {
    const fought = { object: service, reason: 'ChangedByOthers', message: 'Service shop-bridge is changed again and again' }
    const alone = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], { problems: [fought] })
    expect(summary(alone)).to.include({ ...SETTLED, Ready: 'True Ready', ObjectsApplied: 'False ChangedByOthers' })
    expect(messageOf(alone, 'ObjectsApplied')).to.equal(fought.message)
    const both = { problems: [fought, { object: service, reason: 'Forbidden', message: 'Service shop-bridge: no right' }] }
    expect(summary(statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], both))).to.include({
      ...stalled('Forbidden'),
      ObjectsApplied: 'False Forbidden',
    })
  })

  for (const [reason, expected] of [
    ['ForeignObject', stalled('ForeignObject')],
    ['ApplyFailed', progressing('ApplyFailed')],
  ] as const)
    it(`${reason}: the component itself says that it is not made, and why`, () => {
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop-bridge' }
      const sound = running(DISTRIBUTED.filter(component => component !== 'bridge'))
      const status = statusOf([pipelineObject(SPEC), ...sound], { problems: [{ object: deployment, reason, message: 'belongs to Helm' }] })
      expect(summary(status)).to.include({ ...expected, BridgeAvailable: `False ${reason}`, CollectorAvailable: 'True Available' })
      expect(messageOf(status, 'BridgeAvailable')).to.equal('bridge cannot be made: belongs to Helm')
    })

  it('a ServiceMonitor for a Prometheus that NetworkPolicies shut out', () => {
    const of = (spec: object) =>
      statusOf([pipelineObject({ ...SPEC, monitoring: { serviceMonitor: true }, ...spec }), ...running(DISTRIBUTED)])
    const shutOut = of({})
    expect(summary(shutOut)).to.include({ Ready: 'True Ready', MonitoringReady: 'False PrometheusShutOut' })
    expect(messageOf(shutOut, 'MonitoringReady')).to.match(
      /^spec\.networkPolicy\.allowFrom: expected the namespace of Prometheus, seen none/,
    )
    const allowFrom = [{ 'kubernetes.io/metadata.name': 'monitoring' }]
    for (const networkPolicy of [{ allowFrom }, { enabled: false }])
      expect(summary(of({ networkPolicy }))).to.include({ MonitoringReady: 'True ScrapesAllowed' })
    expect(summary(of({ monitoring: { rules: true } }))).not.to.have.property('MonitoringReady')
  })

  it('an Ingress for a dashboard that NetworkPolicies shut it out of', () => {
    const ingress = { host: 'logs.example' }
    const of = (dashboard: object, more: object = {}) => {
      const spec = { ...SPEC, dashboard: { enabled: true, ...dashboard }, ...more }
      return statusOf([pipelineObject(spec), ...running([...DISTRIBUTED, 'dashboard'])])
    }
    const shutOut = of({ ingress })
    expect(summary(shutOut)).to.include({ Ready: 'True Ready', DashboardReachable: 'False IngressShutOut' })
    expect(messageOf(shutOut, 'DashboardReachable')).to.match(
      /^spec\.dashboard\.allowFrom: expected the namespace of the Ingress controller, seen none/,
    )
    const allowFrom = [{ 'kubernetes.io/metadata.name': 'ingress-nginx' }]
    const open = [
      of({ ingress, allowFrom }),
      of({ ingress }, { networkPolicy: { allowFrom } }),
      of({ ingress }, { networkPolicy: { enabled: false } }),
    ]
    for (const status of open) expect(summary(status)).to.include({ DashboardReachable: 'True IngressAllowed' })
    for (const status of [of({}), of({ ingress, enabled: false })]) expect(summary(status)).not.to.have.property('DashboardReachable')
  })

  it('an Ingress for what mode Distributed leaves out when not told otherwise: the field is named, and all is well', () => {
    const ingress = { host: 'logs.example' }
    const of = (more: object) => statusOf([pipelineObject({ ...SPEC, ...more }), ...running(DISTRIBUTED)])
    for (const [door, type] of [
      ['dashboard', 'DashboardReachable'],
      ['gateway', 'GatewayReachable'],
    ] as const) {
      const ignored = of({ [door]: { ingress } })
      expect(summary(ignored)).to.include({ Ready: 'True Ready', Stalled: 'False Settled', [type]: 'False NotEnabled' })
      expect(messageOf(ignored, type)).to.equal(
        `spec.${door}.enabled: expected true beside spec.${door}.ingress, seen none: in mode Distributed there is no ${door} without it, and no Ingress`,
      )
      for (const status of [of({ [door]: { ingress, enabled: false } }), of({ [door]: {} })])
        expect(summary(status)).not.to.have.property(type)
    }
  })

  it('the Prometheus operator that is asked for and not installed: nothing watches the pipeline, which is well all the same', () => {
    const of = (monitoring: object) =>
      statusOf([pipelineObject({ ...SPEC, monitoring, networkPolicy: { enabled: false } }), ...running(DISTRIBUTED)], { servedApis: {} })
    const both = of({ serviceMonitor: true, rules: true })
    expect(summary(both)).to.include({ Ready: 'True Ready', MonitoringReady: 'False PrometheusOperatorNotInstalled' })
    expect(messageOf(both, 'MonitoringReady')).to.equal(
      'spec.monitoring.serviceMonitor: expected the Prometheus operator, found no ServiceMonitor API in this cluster; spec.monitoring.rules: expected the Prometheus operator, found no PrometheusRule API in this cluster',
    )
    expect(messageOf(of({ rules: true }), 'MonitoringReady')).to.match(/^spec.monitoring.rules: expected/)
    expect(summary(of({ rules: false, serviceMonitor: false }))).not.to.have.property('MonitoringReady')
  })
})
