import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Gathered } from './gathered.ts'
import {
  DISTRIBUTED,
  messageOf,
  object,
  pipelineObject,
  progressing,
  running,
  SETTLED,
  SPEC,
  stalled,
  statusOf,
  summary,
  workload,
} from './testing/status-of.ts'

describe('secrets of a LogPipeline', () => {
  const withSecret = (credentials: object) => pipelineObject({ ...SPEC, search: { ...SPEC.search, credentials } })
  const bySecret = withSecret({ secret: { name: 'search' } })
  const byExternal = withSecret({ externalSecret: { name: 'search' } })
  const WITH_CA = pipelineObject({
    ...SPEC,
    search: { ...SPEC.search, credentials: { externalSecret: { name: 'search' } }, caSecret: { name: 'search' } },
  })
  const secret = (data: object) => object('Secret', 'search', { data })
  const GOOD = secret({ username: 'YQ==', password: 'Yg==' })
  const external = (...conditions: readonly object[]) => object('ExternalSecret', 'search', { status: { conditions } })
  const SYNCED = external({ type: 'Ready', status: 'True', reason: 'SecretSynced' })
  const FAILED = external({ type: 'Ready', status: 'False', reason: 'SecretSyncedError', message: 'could not get secret' })

  const OF_GATEWAY = { tls: { secretName: 'tls' } }
  const gateway = (given: object) => pipelineObject({ ...SPEC, gateway: { enabled: true, ...given } })
  const PEM = btoa('-----BEGIN CERTIFICATE-----')
  const KEY = btoa(`svc_proj_${'0'.repeat(64)}`)

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
    [
      'of a variable of all pods that is missing',
      [pipelineObject({ ...SPEC, podTemplate: { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'mine', key: 'a' } } }] } })],
      { ...stalled('MissingSecret'), BridgeAvailable: 'False MissingSecret', CollectorAvailable: 'False MissingSecret' },
      'spec.podTemplate.env[0].valueFrom.secretKeyRef.name: expected a Secret mine, found none',
    ],
    [
      'of a variable of all pods, without the key',
      [
        pipelineObject({ ...SPEC, podTemplate: { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'search', key: 'a' } } }] } }),
        secret({ b: 'YQ==' }),
      ],
      { ...stalled('InvalidSecret'), CollectorAvailable: 'False InvalidSecret' },
      'spec.podTemplate.env[0].valueFrom.secretKeyRef: Secret search: expected key a, found b',
    ],
    [
      'of a variable of all pods, of several lines and long',
      [
        pipelineObject({ ...SPEC, podTemplate: { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'search', key: 'a' } } }] } }),
        secret({ a: btoa('line\n'.repeat(2_000)) }),
      ],
      { SecretsSynced: 'True Synced', CollectorAvailable: 'False Creating' },
      '1 references to Secrets resolved',
    ],
    [
      'of files of all pods that is missing',
      [pipelineObject({ ...SPEC, podTemplate: { volumes: [{ name: 'a', mountPath: '/a', secret: { name: 'mine' } }] } })],
      { ...stalled('MissingSecret'), CollectorAvailable: 'False MissingSecret' },
      'spec.podTemplate.volumes[0].secret.name: expected a Secret mine, found none',
    ],
    [
      'of the gateway’s certificate that is missing',
      [gateway(OF_GATEWAY)],
      { ...stalled('MissingSecret'), GatewayAvailable: 'False MissingSecret', BridgeAvailable: 'False Creating' },
      'spec.gateway.tls.secretName: expected a Secret tls, found none',
    ],
    [
      'of the gateway’s certificate that hold none',
      [gateway(OF_GATEWAY), object('Secret', 'tls', { data: { 'tls.crt': PEM, 'tls.key': 'YQ==' } })],
      stalled('InvalidSecret'),
      'spec.gateway.tls: Secret tls: expected key tls.key to hold PEM',
    ],
    [
      'of a first API key that is none',
      [gateway({ bootstrapKey: { secret: { name: 'key' } } }), object('Secret', 'key', { data: { apiKey: 'YQ==' } })],
      { ...stalled('InvalidSecret'), GatewayAvailable: 'False InvalidSecret' },
      'spec.gateway.bootstrapKey: Secret key: expected key apiKey to hold an API key: svc_proj_ and 64 hexadecimal digits of a cryptographic generator, as from `openssl rand -hex 32`',
    ],
    [
      'of a first API key, found',
      [gateway({ bootstrapKey: { secret: { name: 'key' } } }), object('Secret', 'key', { data: { apiKey: KEY } })],
      { SecretsSynced: 'True Synced', GatewayAvailable: 'False Creating' },
      '1 references to Secrets resolved',
    ],
    [
      'of a gateway that there is not: nothing is asked for',
      [pipelineObject({ ...SPEC, gateway: OF_GATEWAY })],
      { SecretsSynced: 'True Synced' },
      'no Secrets are referred to',
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
      'named itself, and missing',
      [pipelineObject({ ...SPEC, search: { ...SPEC.search, caSecret: { name: 'search' } } })],
      stalled('MissingSecret'),
      'spec.search.caSecret.name: expected a Secret search, found none',
    ],
    [
      'named itself, where an ExternalSecret beside it is to make it',
      [WITH_CA, external()],
      { ...progressing('SecretNotSynced'), BridgeAvailable: 'False SecretNotSynced' },
      'spec.search.credentials.externalSecret.name: expected ExternalSecret search to be synced, seen no status yet; ' +
        'spec.search.caSecret.name: expected a Secret search, found none: ExternalSecret search is not synced',
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

  it('under keys that are named', () => {
    const named = (keys: object) => [withSecret({ secret: { name: 'search' }, keys }), secret({ u: 'YQ==', p: 'Yg==' })]
    for (const keys of [
      { SEARCH_USERNAME: 'u', SEARCH_PASSWORD: 'p' },
      { username: 'u', password: 'p' },
    ])
      expect(summary(statusOf(named(keys)))).to.include({ SecretsSynced: 'True Synced' })
    const status = statusOf(named({ SEARCH_USERNAME: 'u', SEARCH_PASSWORT: 'p' }))
    expect(summary(status)).to.include(stalled('InvalidSecret'))
    expect(messageOf(status, 'SecretsSynced')).to.equal(
      'spec.search.credentials.keys: expected SEARCH_USERNAME, SEARCH_PASSWORD, seen SEARCH_PASSWORT',
    )
  })

  it('without a key that is named for a value which may be missing: another user would be asked for', () => {
    const console = (credentials: object) => pipelineObject({ ...SPEC, dashboard: { enabled: true, credentials } })
    const held = object('Secret', 'search', { data: { password: btoa('geheim-genug') } })
    const credentials = { secret: { name: 'search' } }
    expect(summary(statusOf([console(credentials), held]))).to.include({ SecretsSynced: 'True Synced' })
    const status = statusOf([console({ ...credentials, keys: { DASHBOARD_USERNAME: 'user' } }), held])
    expect(summary(status)).to.include({ ...stalled('InvalidSecret'), DashboardAvailable: 'False InvalidSecret' })
    expect(messageOf(status, 'SecretsSynced')).to.equal('spec.dashboard.credentials: Secret search: expected key user, found password')
  })

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
  const spec = { ...SPEC, bus: { strimzi: { cluster: 'k', listener: 'tls' }, topicPrefix: '' } }
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
    const seen = (bridgeHealth: NonNullable<Gathered['bridgeHealth']>) =>
      statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)], { bridgeHealth })
    const noBus = seen({ component: 'bridge', bus: 'disconnected', search: 'connected' })
    expect(summary(noBus)).to.include({ ...progressing('Disconnected'), BusReady: 'False Disconnected', SearchReady: 'True Connected' })
    expect(messageOf(noBus, 'BusReady')).to.equal('the bridge cannot reach the bus at kafka:9092')
    const noSearch = seen({ component: 'bridge', bus: 'connected', search: 'disconnected' })
    expect(summary(noSearch)).to.include({ ...progressing('Disconnected'), BusReady: 'True Connected', SearchReady: 'False Disconnected' })
    expect(messageOf(noSearch, 'SearchReady')).to.equal('the bridge cannot reach the search store at https://search:9200')
  })

  it('brokers that neither collector nor bridge has ever reached', () => {
    const starting = DISTRIBUTED.map(component => workload(component, { available: ['collector', 'bridge'].includes(component) ? 0 : 1 }))
    const unknown = statusOf([pipelineObject(SPEC), ...starting])
    expect(summary(unknown)).to.include({ BusReady: 'Unknown NotChecked', SearchReady: 'Unknown NotChecked' })
    for (const component of ['bridge', 'collector'] as const) {
      const status = statusOf([pipelineObject(SPEC), ...starting], { bridgeHealth: { component, bus: 'disconnected' } })
      expect(summary(status)).to.include({
        ...progressing('Disconnected'),
        BusReady: 'False Disconnected',
        SearchReady: 'Unknown NotChecked',
      })
      expect(messageOf(status, 'BusReady')).to.equal(`the ${component} cannot reach the bus at kafka:9092`)
    }
  })
})
