/** The roles that `logpipeline <role>` can start, and where each listens (Decisions 2). */

/** Default ports, as the specification's address placeholders name them. */
export const PORTS = {
  dashboard: 3000,
  gateway: 8443,
  /** Health and metrics of a gateway alone, in plain text and without a key. */
  gatewayHealth: 8444,
  otlpGrpc: 4317,
  otlpHttp: 4318,
  health: 13133,
  bridge: 8080,
  ticketing: 18081,
  /** Within standalone; alone it listens on `PORT`. */
  agent: 8081,
  features: 6567,
  /** Within standalone; alone it listens on `PORT`. */
  scheduler: 8083,
  search: 9200,
  /** Health and metrics of a stream job. */
  stream: 9464,
  /** Health and metrics of the operator. */
  operator: 8082,
} as const

export interface RoleDescription {
  /** The role in one line of the help text. */
  readonly summary: string
  /** The listeners of the role: the setting that moves each, and its protocol. */
  readonly listens: readonly { readonly setting: string; readonly port: number; readonly speaks: string }[]
  readonly reads: string
  readonly writes: string
}

export const ROLE_NAMES = [
  'standalone',
  'gateway',
  'dashboard',
  'collector',
  'bridge',
  'stream etl',
  'stream score',
  'ticketing',
  'agent',
  'features',
  'scheduler',
  'search',
  'operator',
] as const
export type RoleName = (typeof ROLE_NAMES)[number]

export const ROLES: Readonly<Record<RoleName, RoleDescription>> = {
  standalone: {
    summary: 'every role below but the stream jobs in one process, on embedded storage',
    listens: [],
    reads: '',
    writes: '',
  },
  gateway: {
    summary: 'asks for an API key, and passes requests on for the tenant of the key',
    listens: [
      { setting: 'GATEWAY_PORT', port: PORTS.gateway, speaks: 'TLS: HTTP/1.1, HTTP/2, OTLP over gRPC' },
      { setting: 'HEALTH_PORT', port: PORTS.gatewayHealth, speaks: 'health, metrics' },
    ],
    reads: 'OTLP and API requests; service-api-keys',
    writes: 'service-api-keys',
  },
  dashboard: {
    summary: 'serves the console, passes requests on to the other roles without a key, and takes uploads',
    listens: [{ setting: 'DASHBOARD_PORT', port: PORTS.dashboard, speaks: 'console, `/api/<service>/...`, upload' }],
    reads: 'the other roles; service-api-keys',
    writes: 'OTLP requests of uploads; service-api-keys',
  },
  collector: {
    summary: 'takes OTLP logs in and publishes them to the bus',
    listens: [
      { setting: 'OTLP_GRPC_PORT', port: PORTS.otlpGrpc, speaks: 'OTLP over gRPC' },
      { setting: 'OTLP_HTTP_PORT', port: PORTS.otlpHttp, speaks: 'OTLP over HTTP' },
      { setting: 'HEALTH_PORT', port: PORTS.health, speaks: 'health, metrics' },
    ],
    reads: 'OTLP requests',
    writes: 'raw-logs',
  },
  bridge: {
    summary: 'flattens, enriches, scores and indexes records, and opens incidents',
    listens: [{ setting: 'BRIDGE_PORT', port: PORTS.bridge, speaks: 'health, metrics, configuration' }],
    reads: 'raw-logs, enriched-logs, anomaly-events',
    writes: 'enriched-logs, anomaly-events, dead-letter-queue; service-logs-*, service-anomalies-*, service-incidents-*, service-config',
  },
  'stream etl': {
    summary: "does the bridge's flattening and enriching in its place, exactly once; needs Kafka",
    listens: [{ setting: 'PORT', port: PORTS.stream, speaks: 'health, metrics' }],
    reads: 'raw-logs',
    writes: 'enriched-logs, dead-letter-queue',
  },
  'stream score': {
    summary: "does the bridge's scoring in its place, exactly once; needs Kafka",
    listens: [{ setting: 'PORT', port: PORTS.stream, speaks: 'health, metrics' }],
    reads: 'enriched-logs',
    writes: 'anomaly-events, dead-letter-queue',
  },
  ticketing: {
    summary: 'lists incidents, takes them through their states, names their causes and tells ticket platforms',
    listens: [{ setting: 'TICKETING_PORT', port: PORTS.ticketing, speaks: 'incidents, dispatches, silences, audit, configuration' }],
    reads: 'service-incidents-*, service-logs-*, service-audit-*, service-dispatches-*, service-config',
    writes: 'service-incidents-*, service-audit-*, service-dispatches-*, service-config',
  },
  agent: {
    summary: 'tells the health of the bus, the stream jobs, the search store and the external secrets',
    listens: [{ setting: 'PORT', port: 8080, speaks: 'health, readiness, metrics' }],
    reads: 'the bus, the stream jobs, the search store, the cluster',
    writes: '',
  },
  features: {
    summary: 'answers which ML features a service has, as a Feast feature server',
    listens: [{ setting: 'FEATURES_PORT', port: PORTS.features, speaks: 'Feast: get-online-features, push' }],
    reads: 'ONLINE_STORE_URL or DATA_DIR',
    writes: 'ONLINE_STORE_URL or DATA_DIR',
  },
  scheduler: {
    summary: 'computes the ML features of every service each hour',
    listens: [{ setting: 'PORT', port: 8080, speaks: 'Airflow REST API of feature_compute' }],
    reads: 'service-logs-*, service-anomalies-*',
    writes: 'ONLINE_STORE_URL or DATA_DIR; service-feature-runs',
  },
  search: {
    summary: 'the embedded search store, speaking the OpenSearch REST API',
    listens: [{ setting: 'SEARCH_PORT', port: PORTS.search, speaks: 'OpenSearch REST API' }],
    reads: 'DATA_DIR',
    writes: 'DATA_DIR',
  },
  operator: {
    summary: 'runs in Kubernetes: makes LogPipelines and TicketingRoutes come true',
    listens: [{ setting: 'PORT', port: PORTS.operator, speaks: 'health, metrics' }],
    reads: 'the cluster',
    writes: 'the cluster',
  },
}

export function isRoleName(name: string): name is RoleName {
  return (ROLE_NAMES as readonly string[]).includes(name)
}

/** The commands of `logpipeline`, which start no role. */
export const COMMANDS = {
  replay: { usage: 'replay FILE…', summary: 'send recorded OTLP JSON lines to a collector (replay --help)' },
  keys: { usage: 'keys create|list|revoke', summary: 'make, show and revoke API keys of a tenant (keys --help)' },
  'bus groups': { usage: 'bus groups list|remove', summary: 'show who reads the embedded bus, or forget a reader (bus groups --help)' },
  dlq: { usage: 'dlq list|replay|purge', summary: 'show dead letters, send them through the pipeline again, or delete them (dlq --help)' },
  capacity: { usage: 'capacity --rate N', summary: 'cores, memory, disk, brokers and shards that a load needs (capacity --help)' },
  backup: { usage: 'backup DIR', summary: 'copy DATA_DIR, also while a standalone works in it (backup --help)' },
  restore: { usage: 'restore DIR', summary: 'make a new DATA_DIR from a backup (restore --help)' },
  'features compute': { usage: 'features compute', summary: 'compute the ML features of the last full hour now (features compute --help)' },
  demo: { usage: 'demo', summary: 'a small shop that sends logs and breaks: see what becomes of it (demo --help)' },
  'demo platforms': { usage: 'demo platforms', summary: 'stand-ins for all ticket platforms, with pages (demo platforms --help)' },
  config: { usage: 'config check ROLE', summary: 'read the settings of a role, list every problem, start nothing' },
} as const
