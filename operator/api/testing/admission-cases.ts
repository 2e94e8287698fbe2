/** Objects that the API server takes or refuses, with the reason: asked of the rules here, and of the real one. */

const SECRET = { secret: { name: 'a' } }
const DISTRIBUTED = { tenant: 'shop', bus: { bootstrapServers: ['kafka:9092'] }, search: { endpoint: 'https://search:9200' } }
const ALL_IN_ONE = { mode: 'AllInOne', tenant: 'shop' }
const ROUTE = { severities: ['critical'], platform: 'pagerduty', credentials: SECRET }

export interface AdmissionCase {
  readonly kind: 'LogPipeline' | 'TicketingRoute'
  readonly title: string
  readonly spec: object
  /** The object that it replaces. */
  readonly old?: object
  /** Default `shop`. */
  readonly name?: string
  /** `path: beginning of the reason`; absent when it is taken. */
  readonly problem?: string
}

const GOOD: readonly (readonly [name: string, spec: object])[] = [
  ['with an address of Kafka and of the search store', DISTRIBUTED],
  ...[1, '1', '0.5Gi', '.5Ti', '20Gi', '10e9'].map(
    size => [`with a volume of ${JSON.stringify(size)}`, { ...ALL_IN_ONE, allInOne: { storage: { size } } }] as const,
  ),
  ['with nothing at all in mode AllInOne', { mode: 'AllInOne' }],
  [
    'with each kind of rule for labels of routes',
    {
      ...DISTRIBUTED,
      ticketing: {
        routeSelector: {
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['gold'] },
            { key: 'tier', operator: 'NotIn', values: [''] },
            { key: 'team', operator: 'Exists' },
            { key: 'old', operator: 'DoesNotExist', values: [] },
          ],
        },
      },
    },
  ],
  ['with a Kafka of Strimzi', { ...DISTRIBUTED, bus: { strimzi: { cluster: 'my-kafka', listener: 'tls' }, replicationFactor: 3 } }],
  [
    'with TLS and SASL',
    { ...DISTRIBUTED, bus: { ...DISTRIBUTED.bus, tls: { caSecret: { name: 'ca', key: 'ca.crt' } }, sasl: { credentials: SECRET } } },
  ],
  [
    'with credentials from an ExternalSecret',
    {
      ...DISTRIBUTED,
      search: { ...DISTRIBUTED.search, credentials: { externalSecret: { name: 'a' }, keys: { SEARCH_PASSWORD: 'pw' } } },
    },
  ],
  [
    'with replicas beside an autoscaler, which then owns them',
    { ...DISTRIBUTED, collector: { replicas: 3, autoscaling: { minReplicas: 2, maxReplicas: 9, targetCpuPercent: 70 } } },
  ],
  ['scaled by KEDA', { ...DISTRIBUTED, bridge: { autoscaling: { maxReplicas: 6, keda: true }, anomalyThreshold: 2.5, windowSize: 50 } }],
  [
    'with features and their store',
    { ...DISTRIBUTED, features: { enabled: true, schedule: '@hourly', onlineStore: { url: 'redis://valkey:6379' } } },
  ],
  [
    'with a store that asks for a password',
    { ...DISTRIBUTED, features: { enabled: true, onlineStore: { url: 'redis://valkey:6379', credentials: SECRET } } },
  ],
  [
    'with a schedule as cron writes it',
    { ...DISTRIBUTED, features: { enabled: true, schedule: '0 * * * *', onlineStore: { url: 'redis://valkey:6379' } } },
  ],
  ['with features in mode AllInOne without a store', { ...ALL_IN_ONE, features: { enabled: true } }],
  [
    'with quantities as numbers and as text',
    { ...DISTRIBUTED, collector: { resources: { requests: { cpu: 1, memory: '512Mi' }, limits: { cpu: '1.5' } } } },
  ],
  [
    'with a model',
    {
      ...DISTRIBUTED,
      ticketing: {
        llm: { provider: 'openai', model: 'm', credentials: SECRET },
        anomaly: { minimumScore: 0.9, lookbackWindow: '1h30m' },
        routeSelector: { matchLabels: { a: 'b' } },
      },
    },
  ],
  [
    'with a model within the cluster',
    { ...DISTRIBUTED, ticketing: { llm: { provider: 'ollama', model: 'm', baseUrl: 'http://ollama.ns.svc:11434/v1?a' } } },
  ],
  ...['1s', '0.5s500ms', '15m', '1h30m', '1500ms', '6d23h59m60s', '7d'].map(
    lookbackWindow => [`with a look-back of ${lookbackWindow}`, { ...DISTRIBUTED, ticketing: { anomaly: { lookbackWindow } } }] as const,
  ),
  [
    'with addresses that name the highest port, IPv6 and a path',
    {
      ...DISTRIBUTED,
      bus: { bootstrapServers: ['kafka:65535', '[fd00::1]:1'] },
      search: { endpoint: 'https://[fd00::1]:65535/search' },
      ticketing: { publicUrl: 'https://logs.example/console' },
    },
  ],
  [
    'with gateway and dashboard, and their Ingresses',
    {
      ...DISTRIBUTED,
      gateway: {
        enabled: true,
        tls: { secretName: 'tls' },
        bootstrapKey: SECRET,
        adminTenants: ['shop'],
        ingress: { host: 'ingest.shop.example', className: 'nginx' },
      },
      dashboard: {
        enabled: true,
        credentials: SECRET,
        ingress: { host: '*.shop.example', tls: { secretName: 'tls' } },
        allowFrom: [{ a: 'b' }],
      },
    },
  ],
  ['without gateway and dashboard in mode AllInOne', { ...ALL_IN_ONE, gateway: { enabled: false }, dashboard: { enabled: false } }],
  [
    'with a template for pods',
    { ...DISTRIBUTED, podTemplate: { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }], affinity: { nodeAffinity: {} } } },
  ],
  [
    'with all that a template for pods may have',
    {
      ...ALL_IN_ONE,
      podTemplate: {
        topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
        runtimeClassName: 'gvisor',
        terminationGracePeriodSeconds: 60,
        env: [
          { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
          { name: 'no_proxy', value: '' },
          { name: 'MAX_REQUEST_BYTES', value: '1000000' },
          { name: 'SUPPORT', value: 'begins like PORT' },
          { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
        ],
        envFrom: [{ secretRef: { name: 'a' } }, { prefix: 'A_', configMapRef: { name: 'a' } }],
        volumes: [
          { name: 'a', mountPath: '/etc/ssl/certs', secret: { name: 'a' } },
          { name: 'b', mountPath: '/temporary/.hidden', configMap: { name: 'a' } },
        ],
      },
    },
  ],
]

const ONE_POD =
  '.spec: mode AllInOne is one pod: expected no replicas and no autoscaling of collector, gateway, bridge, ticketing or dashboard'
const ONE_OF = 'expected exactly one of secret and externalSecret'
const VOLUME = { name: 'a', mountPath: '/a', secret: { name: 'a' } }
const ONE_VALUE = 'expected exactly one of value and valueFrom'
const POD_TEMPLATES: readonly (readonly [what: string, podTemplate: object, problem: string])[] = [
  ...['LOG_LEVEL', 'PORT', 'SEARCH_PASSWORD_FILE', 'SEARCH_CA_FILE', 'BUS_BROKERS', 'KUBECONFIG', 'DATA_DIR'].map(
    name =>
      [
        `variable ${name}`,
        { env: [{ name, value: 'a' }] },
        'env.0.name: expected letters, digits and _, and no setting that other fields of the resource give',
      ] as const,
  ),
  ['a variable that is none', { env: [{ name: 'a-b', value: '' }] }, 'env.0.name: expected letters, digits and _'],
  ['a variable without a value', { env: [{ name: 'A' }] }, `env.0: ${ONE_VALUE}`],
  [
    'a variable with two values',
    { env: [{ name: 'A', value: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
    `env.0: ${ONE_VALUE}`,
  ],
  [
    'a variable of two sources',
    { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'a' }, secretKeyRef: { name: 'a', key: 'b' } } }] },
    'env.0.valueFrom: expected exactly one of secretKeyRef, configMapKeyRef and fieldRef',
  ],
  ['variables of nothing', { envFrom: [{ prefix: 'A_' }] }, 'envFrom.0: expected exactly one of secretRef and configMapRef'],
  ['a volume of nothing', { volumes: [{ name: 'a', mountPath: '/a' }] }, 'volumes.0: expected exactly one of secret and configMap'],
  ...['/', 'a', '/tmp', '/data/a', '/etc/logpipeline/settings', '/a/../tmp', '/a/.', '/app', '/a:b'].map(
    mountPath =>
      [
        `a volume at ${mountPath}`,
        { volumes: [{ ...VOLUME, mountPath }] },
        'volumes.0.mountPath: expected an absolute path without . and .., outside of /app, /data',
      ] as const,
  ),
  ['two volumes in one place', { volumes: [VOLUME, { ...VOLUME, name: 'b' }] }, 'volumes: expected each mountPath once'],
  [
    'less time to end than it takes to drain',
    { terminationGracePeriodSeconds: 59 },
    'terminationGracePeriodSeconds: expected from 60 to 3600',
  ],
]
const BAD: readonly (readonly [name: string, spec: object, problem: string])[] = [
  ['without bus', { search: DISTRIBUTED.search }, '.spec: mode Distributed: expected bus'],
  ['without an address of the search store', { bus: DISTRIBUTED.bus }, '.spec: mode Distributed: expected search.endpoint'],
  [
    'with a bus in mode AllInOne',
    { ...ALL_IN_ONE, bus: DISTRIBUTED.bus },
    '.spec.bus: mode AllInOne has a bus of its own: expected no bus',
  ],
  [
    'with two kinds of bus',
    { ...DISTRIBUTED, bus: { ...DISTRIBUTED.bus, strimzi: { cluster: 'k' } } },
    '.spec.bus: expected exactly one of bootstrapServers and strimzi',
  ],
  ['with neither kind of bus', { ...DISTRIBUTED, bus: {} }, '.spec.bus: expected exactly one of bootstrapServers and strimzi'],
  [
    'with an address without a port',
    { ...DISTRIBUTED, bus: { bootstrapServers: ['kafka'] } },
    '.spec.bus.bootstrapServers.0: expected a host and a port, such as kafka-0:9092',
  ],
  [
    'with both kinds of secret',
    { ...DISTRIBUTED, search: { ...DISTRIBUTED.search, credentials: { ...SECRET, externalSecret: { name: 'b' } } } },
    `.spec.search.credentials: ${ONE_OF}`,
  ],
  [
    'with neither kind of secret',
    { ...DISTRIBUTED, bus: { ...DISTRIBUTED.bus, sasl: { credentials: {} } } },
    `.spec.bus.sasl.credentials: ${ONE_OF}`,
  ],
  [
    'with credentials of no search store',
    { ...ALL_IN_ONE, search: { credentials: SECRET } },
    '.spec.search.credentials: expected together with endpoint',
  ],
  [
    'with an authority for plain http',
    { ...DISTRIBUTED, search: { endpoint: 'http://a', caSecret: { name: 'a' } } },
    '.spec.search.caSecret: expected together with an endpoint that begins with https://',
  ],
  [
    'with stream jobs in mode AllInOne',
    { ...ALL_IN_ONE, stream: { enabled: true } },
    '.spec.stream: stream jobs need Kafka: expected mode Distributed',
  ],
  ...['0', 0, '0Gi', '0.00Mi', '.0', '0e5'].map(
    size =>
      [
        `with a volume of ${JSON.stringify(size)}`,
        { ...ALL_IN_ONE, allInOne: { storage: { size } } },
        '.spec.allInOne.storage.size: expected an amount above 0, such as 20Gi',
      ] as const,
  ),
  ['with replicas in mode AllInOne', { ...ALL_IN_ONE, bridge: { replicas: 2 } }, ONE_POD],
  ['with ticketing replicas in mode AllInOne', { ...ALL_IN_ONE, ticketing: { replicas: 2 } }, ONE_POD],
  ['with gateway replicas in mode AllInOne', { ...ALL_IN_ONE, gateway: { replicas: 2 } }, ONE_POD],
  ['with an autoscaled gateway in mode AllInOne', { ...ALL_IN_ONE, gateway: { autoscaling: { maxReplicas: 2 } } }, ONE_POD],
  ['with dashboard replicas in mode AllInOne', { ...ALL_IN_ONE, dashboard: { replicas: 2 } }, ONE_POD],
  [
    'with an Ingress for a URL',
    { ...DISTRIBUTED, gateway: { ingress: { host: 'https://a.example' } } },
    '.spec.gateway.ingress.host: expected a host name such as logs.example.com',
  ],
  [
    'with an admin that is no tenant',
    { ...DISTRIBUTED, gateway: { adminTenants: ['Shop'] } },
    '.spec.gateway.adminTenants.0: expected a tenant id: 1 to 63 of a-z, 0-9 and -',
  ],
  ['with a key of no source', { ...DISTRIBUTED, gateway: { bootstrapKey: {} } }, `.spec.gateway.bootstrapKey: ${ONE_OF}`],
  ['with a volume in mode Distributed', { ...DISTRIBUTED, allInOne: {} }, '.spec.allInOne: expected together with mode AllInOne only'],
  [
    'with features and no store',
    { ...DISTRIBUTED, features: { enabled: true } },
    '.spec.features: features in mode Distributed: expected onlineStore, since the pods share it',
  ],
  [
    'with a store that is nowhere',
    { ...DISTRIBUTED, features: { onlineStore: {} } },
    '.spec.features.onlineStore: expected url, credentials, or both',
  ],
  [
    'with a password in a URL',
    { ...DISTRIBUTED, features: { onlineStore: { url: 'redis://u:p@a' } } },
    '.spec.features.onlineStore.url: expected no password in url: put it into a Secret and name that in credentials',
  ],
  [
    'with a least above the greatest',
    { ...DISTRIBUTED, collector: { autoscaling: { minReplicas: 3, maxReplicas: 2 } } },
    '.spec.collector.autoscaling.minReplicas: expected minReplicas to be at most maxReplicas',
  ],
  ...[
    { operator: 'In' },
    { operator: 'NotIn', values: [] },
    { operator: 'Exists', values: ['gold'] },
    { operator: 'DoesNotExist', values: ['gold'] },
  ].map(
    rule =>
      [
        `with a selector of routes that Kubernetes would refuse: ${JSON.stringify(rule)}`,
        { ...DISTRIBUTED, ticketing: { routeSelector: { matchExpressions: [{ key: 'tier', ...rule }] } } },
        '.spec.ticketing.routeSelector.matchExpressions.0.values: expected values with In and NotIn, and none with Exists and DoesNotExist',
      ] as const,
  ),
  [
    'with a provider and no model',
    { ...DISTRIBUTED, ticketing: { llm: { provider: 'openai' } } },
    '.spec.ticketing.llm: expected a model, since provider is not none',
  ],
  ['with a tenant that is none', { ...DISTRIBUTED, tenant: 'Shop' }, '.spec.tenant: expected a tenant id: 1 to 63 of a-z, 0-9 and -'],
  [
    'with an address of the search store that is no URL',
    { ...DISTRIBUTED, search: { endpoint: 'search:9200' } },
    '.spec.search.endpoint: expected a URL such as https://search:9200',
  ],
  [
    'with a store that is no Redis',
    { ...DISTRIBUTED, features: { onlineStore: { url: 'http://a' } } },
    '.spec.features.onlineStore.url: expected a URL such as redis://valkey:6379',
  ],
  ...['https://key@models.example', 'https://u:p@models.example/v1', 'https://models.example#a', 'https://'].map(
    baseUrl =>
      [
        `with the model ${baseUrl}`,
        { ...DISTRIBUTED, ticketing: { llm: { provider: 'openai', model: 'm', baseUrl } } },
        '.spec.ticketing.llm.baseUrl: expected a URL such as https://models.example/v1, without user name and fragment',
      ] as const,
  ),
  [
    'with a window that is no duration',
    { ...DISTRIBUTED, ticketing: { anomaly: { lookbackWindow: '15' } } },
    '.spec.ticketing.anomaly.lookbackWindow: expected a duration from 1s to 7d',
  ],
  ...['0s', '999ms', '7d1s', '30d', '169h', '6d25h'].map(
    lookbackWindow =>
      [
        `with a look-back of ${lookbackWindow}`,
        { ...DISTRIBUTED, ticketing: { anomaly: { lookbackWindow } } },
        '.spec.ticketing.anomaly.lookbackWindow: expected a duration from 1s to 7d',
      ] as const,
  ),
  ...['kafka:0', 'kafka:65536', 'kafka:99999'].map(
    address =>
      [
        `with the address ${address}`,
        { ...DISTRIBUTED, bus: { bootstrapServers: [address] } },
        '.spec.bus.bootstrapServers.0: expected a host and a port, such as kafka-0:9092',
      ] as const,
  ),
  ...['https://search:99999', 'https://search:', 'https://[search', 'https://user@search'].map(
    endpoint =>
      [
        `with the search store ${endpoint}`,
        { ...DISTRIBUTED, search: { endpoint } },
        '.spec.search.endpoint: expected a URL such as https://search:9200',
      ] as const,
  ),
  ['with a window out of range', { ...DISTRIBUTED, bridge: { windowSize: 9 } }, '.spec.bridge.windowSize: expected from 10 to 100000'],
  [
    'with a threshold of 0',
    { ...DISTRIBUTED, bridge: { anomalyThreshold: 0 } },
    '.spec.bridge.anomalyThreshold: expected a number above 0, at least 0.000001',
  ],
  ...POD_TEMPLATES.map(
    ([what, podTemplate, problem]) =>
      [`with a template for pods: ${what}`, { ...DISTRIBUTED, podTemplate }, `.spec.podTemplate.${problem}`] as const,
  ),
  ['with an unknown field', { ...DISTRIBUTED, proxy: {} }, '.spec.proxy: unknown field'],
  [
    'with a quantity that is none',
    { ...DISTRIBUTED, bridge: { resources: { limits: { cpu: 'much' } } } },
    '.spec.bridge.resources.limits.cpu: expected to match',
  ],
]

const CHANGES: readonly (readonly [name: string, before: object, after: object, problem: string | undefined])[] = [
  [
    'is refused when the tenant changes',
    DISTRIBUTED,
    { ...DISTRIBUTED, tenant: 'other' },
    '.spec.tenant: tenant cannot be changed: expected as it was; make another LogPipeline for another tenant',
  ],
  [
    'is refused when the tenant is taken away',
    DISTRIBUTED,
    { bus: DISTRIBUTED.bus, search: DISTRIBUTED.search },
    '.spec.tenant: tenant cannot be changed: expected as it was; make another LogPipeline for another tenant',
  ],
  [
    'is refused when the volume changes',
    { ...ALL_IN_ONE, allInOne: { storage: { size: '1Gi' } } },
    { ...ALL_IN_ONE, allInOne: { storage: { size: '2Gi' } } },
    '.spec.allInOne.storage: storage cannot be changed: expected as it was; resize the PersistentVolumeClaim itself',
  ],
  [
    'is refused when the volume is described later',
    ALL_IN_ONE,
    { ...ALL_IN_ONE, allInOne: { storage: { size: '2Gi' } } },
    '.spec: allInOne.storage cannot be added or taken away: a StatefulSet keeps its claim',
  ],
  ['is taken when anything else changes', DISTRIBUTED, { ...DISTRIBUTED, paused: true, collector: { replicas: 5 } }, undefined],
  ['is taken when the mode changes', DISTRIBUTED, { ...ALL_IN_ONE, allInOne: { storage: { size: '2Gi' } } }, undefined],
]

const NAMES = [
  { name: 'a'.repeat(50), taken: true },
  { name: 'shop-1', taken: true },
  { name: 'a'.repeat(51), taken: false },
  { name: '1shop', taken: false },
  { name: 'shop.eu', taken: false },
]

const ROUTES: readonly (readonly [name: string, spec: object, problem: string | undefined])[] = [
  ['is taken with a platform and credentials', ROUTE, undefined],
  [
    'is taken with fields of its platform',
    { ...ROUTE, platform: 'jira', settings: { baseUrl: 'https://a', userEmail: 'a@b', projectKey: 'OPS' } },
    undefined,
  ],
  [
    'is taken without credentials where a mail server asks for none',
    { severities: ['low'], platform: 'email', settings: { host: 'mail', port: 25, from: 'a@b', to: 'c@d' } },
    undefined,
  ],
  [
    'is taken with a number among the fields',
    { ...ROUTE, platform: 'email', settings: { host: 'mail', port: 587, user: 'u', from: 'a@b', to: 'c@d' } },
    undefined,
  ],
  [
    'is taken with texts for a number and a flag, texts of nothing, and an address within the cluster',
    {
      ...ROUTE,
      platform: 'email',
      settings: { host: 'mail', port: '587', secure: 'true', user: '', from: 'A <a@b>', to: 'c@d,e@f', escalationTo: '' },
    },
    undefined,
  ],
  [
    'is taken with an address within the cluster',
    { ...ROUTE, platform: 'jira', settings: { baseUrl: 'http://jira.ns.svc:8080/a?b', userEmail: 'a@b' } },
    undefined,
  ],
  ...(['shop.example', 'https://', 'https://a:b@shop.example', 'https://a#b', 7] as const).map(
    baseUrl =>
      [
        `is refused with ${baseUrl} for an address`,
        { ...ROUTE, platform: 'jira', settings: { baseUrl, userEmail: 'a@b' } },
        '.spec.settings: baseUrl: expected a URL such as https://example.com, without user name and fragment',
      ] as const,
  ),
  ...([0, 65_536, 'smtp'] as const).map(
    port =>
      [
        `is refused with port ${port}`,
        { ...ROUTE, platform: 'email', settings: { host: 'mail', port, from: 'a@b', to: 'c@d' } },
        '.spec.settings: port: expected a port number from 1 to 65535',
      ] as const,
  ),
  [
    'is refused with a recipient that is no address',
    { ...ROUTE, platform: 'email', settings: { host: 'mail', port: 25, from: 'a@b', to: 'ops' } },
    '.spec.settings: to: expected an e-mail address, or several with commas between',
  ],
  [
    'is refused with fields of another platform',
    { ...ROUTE, settings: { projectKey: 'OPS' } },
    '.spec.settings: pagerduty: expected no settings other than apiBaseUrl',
  ],
  [
    'is refused with a secret among the fields',
    { ...ROUTE, settings: { routingKey: 'k' } },
    '.spec.settings: pagerduty: expected routingKey, webhookSecret in the Secret that credentials name, not in settings',
  ],
  [
    'is refused without credentials',
    { severities: ['low'], platform: 'slack' },
    '.spec: expected credentials, since the platform has a secret field',
  ],
  ['is refused without severities', { ...ROUTE, severities: [] }, '.spec.severities: expected a size from 1 to 4'],
  [
    'is refused for a platform that is not known',
    { ...ROUTE, platform: 'pager' },
    '.spec.platform: expected one of pagerduty, jira, servicenow, opsgenie, slack, email',
  ],
]

export const ADMISSION_CASES: readonly AdmissionCase[] = [
  ...GOOD.map(([title, spec]) => ({ kind: 'LogPipeline', title: `is taken ${title}`, spec }) as const),
  ...BAD.map(([title, spec, problem]) => ({ kind: 'LogPipeline', title: `is refused ${title}`, spec, problem }) as const),
  ...CHANGES.map(
    ([title, old, spec, problem]) => ({ kind: 'LogPipeline', title, spec, old, ...(problem === undefined ? {} : { problem }) }) as const,
  ),
  ...NAMES.map(({ name, taken }) => ({
    kind: 'LogPipeline' as const,
    title: `is ${taken ? 'taken' : 'refused'} under the name ${name}`,
    spec: DISTRIBUTED,
    name,
    ...(taken ? {} : { problem: ': metadata.name: expected at most 50 of a-z' }),
  })),
  ...ROUTES.map(
    ([title, spec, problem]) => ({ kind: 'TicketingRoute', title, spec, ...(problem === undefined ? {} : { problem }) }) as const,
  ),
]
