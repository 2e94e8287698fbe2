import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Condition, LogPipelineStatus } from '../api/status.ts'
import type { KubernetesObject } from '../kube/object.ts'
import { pipelineStatus, transitions } from './conditions.ts'
import type { Pod, Workload } from './foreign-kinds.ts'
import type { Gathered } from './gathered.ts'
import { gatheredFrom } from './testing/gathered-from.ts'

const NOW = '2026-11-21T12:00:00Z'
const SPEC = { tenant: 'shop', bus: { bootstrapServers: ['kafka:9092'] }, search: { endpoint: 'https://search:9200' } }
const DISTRIBUTED = ['collector', 'bridge', 'ticketing', 'agent']

function pipelineObject(spec: object, metadata: object = {}): KubernetesObject {
  return {
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'LogPipeline',
    metadata: { name: 'shop', namespace: 'ns', generation: 3, ...metadata },
    spec,
  }
}

function object(kind: string, name: string, fields: object = {}): KubernetesObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'ns' }, ...fields }
}

interface Counts {
  readonly replicas: number
  readonly updated: number
  readonly available: number
  readonly total: number
}

function workload(
  component: string,
  { replicas = 1, updated = replicas, available = replicas, total = updated }: Partial<Counts> = {},
  conditions: readonly object[] = [],
): Workload {
  return {
    apiVersion: 'apps/v1',
    kind: component === 'standalone' ? 'StatefulSet' : 'Deployment',
    metadata: { name: `shop-${component}`, generation: 2, labels: { 'app.kubernetes.io/component': component } },
    spec: { replicas, template: { spec: { containers: [{ image: 'logpipeline:1' }] } } },
    status: {
      observedGeneration: 2,
      replicas: total,
      updatedReplicas: updated,
      readyReplicas: available,
      availableReplicas: available,
      conditions: conditions as NonNullable<Workload['status']>['conditions'] & object,
    },
  }
}

function pod(component: string, status: Pod['status'] & object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `shop-${component}-x`, labels: { 'app.kubernetes.io/component': component } },
    status,
  }
}

const running = (components: readonly string[]) =>
  components.map(component => workload(component, component === 'collector' ? { replicas: 2 } : {}))

function statusOf(objects: readonly KubernetesObject[], others: Partial<Gathered> = {}): LogPipelineStatus {
  const desired = { inputsHash: 'h', endpoints: { otlpHttp: 'http://shop-collector.ns.svc:4318' }, selector: 'a=b' }
  return pipelineStatus({ gathered: gatheredFrom(objects, others), desired, now: NOW })
}

/** `<status> <reason>` of each condition. */
function summary({ conditions = [] }: LogPipelineStatus): Readonly<Record<string, string>> {
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

function messageOf({ conditions = [] }: LogPipelineStatus, type: string): string {
  return conditions.find(condition => condition.type === type)!.message
}

const SETTLED = { Reconciling: 'False Settled', Stalled: 'False Settled' }
const stalled = (reason: string) => ({ Ready: `False ${reason}`, Reconciling: 'False Stalled', Stalled: `True ${reason}` })
const progressing = (reason: string) => ({ Ready: `False ${reason}`, Reconciling: `True ${reason}`, Stalled: 'False Progressing' })

describe('status of a LogPipeline', () => {
  it('is Ready when all components are', () => {
    const status = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)])
    expect(summary(status)).to.deep.equal({
      Ready: 'True Ready',
      ...SETTLED,
      Paused: 'False NotPaused',
      SecretsSynced: 'True Synced',
      BusReady: 'True Connected',
      ObjectsApplied: 'True Applied',
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

describe('secrets of a LogPipeline', () => {
  const withSecret = (credentials: object) => pipelineObject({ ...SPEC, search: { ...SPEC.search, credentials } })
  const bySecret = withSecret({ secret: { name: 'search' } })
  const byExternal = withSecret({ externalSecret: { name: 'search' } })
  const secret = (data: object) => object('Secret', 'search', { data })
  const GOOD = secret({ username: 'YQ==', password: 'Yg==' })
  const external = (...conditions: readonly object[]) => object('ExternalSecret', 'search', { status: { conditions } })
  const SYNCED = external({ type: 'Ready', status: 'True', reason: 'SecretSynced' })
  const FAILED = external({ type: 'Ready', status: 'False', reason: 'SecretSyncedError', message: 'could not get secret' })

  const CASES: readonly (readonly [name: string, objects: readonly KubernetesObject[], summary: object, message: string])[] = [
    [
      'missing',
      [bySecret],
      { ...stalled('MissingSecret'), BridgeAvailable: 'False MissingSecret', CollectorAvailable: 'False Creating' },
      'spec.search.credentials.secret.name: expected a Secret search, found none',
    ],
    [
      'without a key',
      [bySecret, secret({ username: 'YQ==' })],
      stalled('InvalidSecret'),
      'spec.search.credentials: Secret search: expected key SEARCH_PASSWORD or password, found username',
    ],
    [
      'with an empty value',
      [bySecret, secret({ username: 'YQ==', password: '' })],
      stalled('InvalidSecret'),
      'spec.search.credentials: Secret search: expected key password to hold a value, found it empty',
    ],
    ['found', [bySecret, GOOD], { SecretsSynced: 'True Synced' }, '1 references to Secrets resolved'],
    [
      'behind an ExternalSecret that is missing',
      [byExternal, GOOD],
      stalled('MissingSecret'),
      'spec.search.credentials.externalSecret.name: expected an ExternalSecret search, found none',
    ],
    [
      'behind an ExternalSecret without status',
      [byExternal, external()],
      { ...progressing('SecretNotSynced'), BridgeAvailable: 'False SecretNotSynced' },
      'spec.search.credentials.externalSecret.name: expected ExternalSecret search to be synced, seen no status yet',
    ],
    [
      'behind an ExternalSecret that failed',
      [byExternal, FAILED],
      progressing('SecretNotSynced'),
      'spec.search.credentials.externalSecret.name: expected ExternalSecret search to be synced, seen SecretSyncedError: could not get secret',
    ],
    [
      'behind an ExternalSecret that is synced, but not there',
      [byExternal, SYNCED],
      stalled('MissingSecret'),
      'spec.search.credentials.externalSecret.name: expected a Secret search, found none',
    ],
    [
      'behind an ExternalSecret that is synced',
      [byExternal, SYNCED, GOOD],
      { SecretsSynced: 'True Synced' },
      '1 references to Secrets resolved',
    ],
  ]
  for (const [name, objects, expected, message] of CASES) {
    it(name, () => {
      const status = statusOf(objects)
      expect(summary(status)).to.include(expected)
      expect(messageOf(status, 'SecretsSynced')).to.equal(message)
    })
  }

  it('a Secret that is there is used, though its last synchronisation failed, and that is told', () => {
    const status = statusOf([byExternal, FAILED, GOOD, ...running(DISTRIBUTED)])
    expect(summary(status)).to.include({ Ready: 'True Ready', ...SETTLED, SecretsSynced: 'False SecretNotSynced' })
  })

  it('without the External Secrets operator', () => {
    const status = statusOf([byExternal], { servedApis: {} })
    expect(messageOf(status, 'SecretsSynced')).to.equal(
      'spec.search.credentials.externalSecret: expected the External Secrets operator, found no ExternalSecret API in this cluster',
    )
  })

  it('a value that its setting does not take, without showing it', () => {
    const spec = { ...SPEC, features: { enabled: true, onlineStore: { credentials: { secret: { name: 'search' } } } } }
    const status = statusOf([pipelineObject(spec), secret({ url: btoa('http://secret') })])
    expect(messageOf(status, 'Ready')).to.match(
      /^spec\.features\.onlineStore\.credentials: Secret search: expected key url to hold a URL such as redis:/,
    )
    expect(JSON.stringify(status)).not.to.include('http://secret')
  })
})

describe('bus of a LogPipeline', () => {
  const spec = { ...SPEC, bus: { strimzi: { cluster: 'k', listener: 'tls' } } }
  const kafka = (ready: string, listeners: readonly object[]) =>
    object('Kafka', 'k', { status: { conditions: [{ type: 'Ready', status: ready, message: 'pods are starting' }], listeners } })
  const READY = kafka('True', [{ name: 'tls', bootstrapServers: 'k:9093' }])
  const topic = (name: string, status: string) =>
    object('KafkaTopic', `shop-${name}`, {
      spec: { topicName: name },
      status: { conditions: [{ type: 'Ready', status, message: 'no brokers' }] },
    })
  const topics = (raw: string) => [
    topic('raw-logs', raw),
    ...['enriched-logs', 'anomaly-events', 'dead-letter-queue'].map(name => topic(name, 'True')),
  ]

  const CASES: readonly (readonly [name: string, objects: readonly KubernetesObject[], summary: object, message: string])[] = [
    [
      'a Kafka that is missing',
      [],
      { ...stalled('MissingKafka'), CollectorAvailable: 'False MissingKafka' },
      'spec.bus.strimzi.cluster: expected a Kafka k, found none',
    ],
    [
      'a listener that is missing',
      [kafka('True', [{ name: 'plain', bootstrapServers: 'k:9092' }])],
      stalled('MissingListener'),
      'spec.bus.strimzi.listener: expected one of Kafka k, seen tls; there are: plain',
    ],
    ['a Kafka that is not ready yet', [kafka('False', [])], progressing('KafkaNotReady'), 'Kafka k is not ready: pods are starting'],
    [
      'a topic that is not ready',
      [READY, ...topics('False'), ...running(DISTRIBUTED)],
      progressing('TopicNotReady'),
      'topic raw-logs: no brokers',
    ],
    [
      'a topic that is not there yet',
      [READY, ...topics('True').slice(1), ...running(DISTRIBUTED)],
      progressing('TopicNotReady'),
      'topic raw-logs: there is no KafkaTopic yet',
    ],
    [
      'topics that are ready',
      [READY, ...topics('True'), ...running(DISTRIBUTED)],
      { Ready: 'True Ready', BusReady: 'True Connected' },
      'the bridge is connected to the bus',
    ],
  ]
  for (const [name, objects, expected, message] of CASES) {
    it(name, () => {
      const status = statusOf([pipelineObject(spec), ...objects])
      expect(summary(status)).to.include(expected)
      expect(messageOf(status, 'BusReady')).to.equal(message)
    })
  }

  it('without the Strimzi operator', () => {
    expect(summary(statusOf([pipelineObject(spec)], { servedApis: {} }))).to.include(stalled('StrimziNotInstalled'))
  })

  it('several listeners and none named', () => {
    const listeners = ['a', 'b'].map(name => ({ name, bootstrapServers: `${name}:1` }))
    const status = statusOf([pipelineObject({ ...SPEC, bus: { strimzi: { cluster: 'k' } } }), kafka('True', listeners)])
    expect(messageOf(status, 'BusReady')).to.equal(
      'spec.bus.strimzi.listener: expected to be named, since there are several, seen nothing; there are: a, b',
    )
  })

  it('a bridge that has lost it, or the search store', () => {
    const status = statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], { bridgeHealth: { bus: 'disconnected', search: 'connected' } })
    expect(summary(status)).to.include({ ...progressing('Disconnected'), BusReady: 'False Disconnected', SearchReady: 'True Connected' })
  })
})

describe('components of a LogPipeline', () => {
  const waiting = (reason: string, message: string) => ({ containerStatuses: [{ state: { waiting: { reason, message } } }] })
  const others = running(['collector', 'ticketing', 'agent'])
  const LATE = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }]
  const crashed = { terminated: { reason: 'Error', exitCode: 78, message: 'BUS_BROKERS: expected brokers' } }

  const CASES: readonly (readonly [name: string, objects: readonly KubernetesObject[], summary: object, message: string])[] = [
    [
      'that are rolled out right now',
      [workload('bridge', { updated: 1, available: 1, total: 2 })],
      { ...progressing('RolloutInProgress'), BridgeAvailable: 'True RolloutInProgress' },
      'bridge: 1 of 1 pods are ready; 1 of the newest version',
    ],
    [
      'whose change is not seen yet',
      [{ ...workload('bridge'), metadata: { ...workload('bridge').metadata, generation: 9 } }],
      progressing('RolloutInProgress'),
      'bridge: 1 of 1 pods are ready; 1 of the newest version',
    ],
    [
      'that make no progress',
      [workload('bridge', { available: 0 }, LATE)],
      { ...stalled('ProgressDeadlineExceeded'), BridgeAvailable: 'False ProgressDeadlineExceeded' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; no progress within the deadline',
    ],
    [
      'whose image cannot be pulled',
      [workload('bridge', { available: 0 }), pod('bridge', waiting('ErrImagePull', 'no such image'))],
      { ...progressing('ImagePullBackOff'), BridgeAvailable: 'False ImagePullBackOff' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: no such image',
    ],
    [
      'whose image cannot be pulled, for too long',
      [workload('bridge', { available: 0 }, LATE), pod('bridge', waiting('ImagePullBackOff', 'back-off'))],
      stalled('ImagePullBackOff'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: back-off; no progress within the deadline',
    ],
    [
      'whose new image cannot be pulled, while the old pods serve',
      [workload('bridge', { available: 1, total: 2 }), pod('bridge', waiting('ImagePullBackOff', 'back-off'))],
      { ...progressing('ImagePullBackOff'), BridgeAvailable: 'True ImagePullBackOff' },
      'bridge: 1 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: back-off',
    ],
    [
      'that crash',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { containerStatuses: [{ restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: crashed }] }),
      ],
      progressing('CrashLooping'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 4 times, the last time exit code 78: BUS_BROKERS: expected brokers',
    ],
    [
      'that run between two crashes',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', {
          containerStatuses: [{ restartCount: 2, state: {}, lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }],
        }),
      ],
      progressing('CrashLooping'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 2 times, the last time OOMKilled, exit code 137',
    ],
    [
      'that fit on no node',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', {
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }],
        }),
      ],
      progressing('Unschedulable'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: 0/3 nodes are available',
    ],
    [
      'whose files cannot be mounted',
      [workload('bridge', { available: 0 }), pod('bridge', waiting('CreateContainerConfigError', 'secret "a" not found'))],
      progressing('CreateContainerConfigError'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: secret "a" not found',
    ],
    [
      'whose pods are refused',
      [
        workload('bridge', { updated: 0, available: 0 }, [
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
        ]),
      ],
      progressing('FailedCreate'),
      'bridge: 0 of 1 pods are ready; 0 of the newest version; exceeded quota',
    ],
    [
      'that are not ready yet',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { conditions: [{ type: 'Ready', status: 'False', message: 'containers with unready status: [bridge]' }] }),
      ],
      progressing('PodsNotReady'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: containers with unready status: [bridge]',
    ],
    [
      'that are scaled to zero',
      [workload('bridge', { replicas: 0 })],
      { Ready: 'True Ready', BridgeAvailable: 'True ScaledToZero' },
      'bridge is scaled to zero',
    ],
  ]
  for (const [name, objects, expected, message] of CASES) {
    it(name, () => {
      const status = statusOf([pipelineObject(SPEC), ...others, ...objects])
      expect(summary(status)).to.include(expected)
      expect(messageOf(status, 'BridgeAvailable')).to.equal(message)
    })
  }

  it('pods beyond the least of an autoscaler do not count against it', () => {
    const spec = { ...SPEC, collector: { autoscaling: { minReplicas: 2, maxReplicas: 9 } } }
    const status = statusOf([
      pipelineObject(spec),
      workload('collector', { replicas: 5, available: 3 }),
      ...running(['bridge', 'ticketing', 'agent']),
    ])
    expect(summary(status)).to.include({ Ready: 'True Ready', CollectorAvailable: 'True Available' })
    expect(status.components).to.deep.include({ collector: { desired: 5, ready: 3, updated: 5, image: 'logpipeline:1' } })
  })

  it('the two stream jobs share a condition, which tells of the worse', () => {
    const spec = { ...SPEC, stream: { enabled: true } }
    const status = statusOf([pipelineObject(spec), ...running([...DISTRIBUTED, 'stream-etl']), workload('stream-score', { available: 0 })])
    expect(summary(status)).to.include({ ...progressing('RolloutInProgress'), StreamJobsRunning: 'False RolloutInProgress' })
    expect(messageOf(status, 'StreamJobsRunning')).to.match(/^stream-score: 0 of 1/)
  })

  it('a StatefulSet that has not replaced its pod is not rolled out', () => {
    const sts = workload('standalone')
    const status = statusOf([
      pipelineObject({ mode: 'AllInOne' }),
      { ...sts, status: { ...sts.status, currentRevision: 'a', updateRevision: 'b' } },
    ])
    expect(summary(status)).to.include({ ...progressing('RolloutInProgress'), StandaloneAvailable: 'True RolloutInProgress' })
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

  it('KEDA that is asked for and not installed', () => {
    const spec = { ...SPEC, bridge: { autoscaling: { maxReplicas: 3, keda: true } } }
    expect(summary(statusOf([pipelineObject(spec), ...running(DISTRIBUTED)]))).to.include({
      Ready: 'True Ready',
      AutoscalingReady: 'True KedaInstalled',
    })
    expect(summary(statusOf([pipelineObject(spec), ...running(DISTRIBUTED)], { servedApis: {} }))).to.include(stalled('KedaNotInstalled'))
  })
})

describe('transitions', () => {
  it('are changes of status or reason, not of the message', () => {
    const condition = (type: string, reason: string, message: string): Condition => ({
      type,
      status: 'True',
      reason,
      message,
      lastTransitionTime: NOW,
    })
    const before = [condition('A', 'x', '1'), condition('B', 'x', '1')]
    const after = [condition('A', 'x', '2'), condition('B', 'y', '1'), condition('C', 'z', '1')]
    expect(transitions(before, after).map(({ type }) => type)).to.deep.equal(['B', 'C'])
  })
})
