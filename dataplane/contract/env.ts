/** Every setting as data, and one schema per role built from it (Decisions 2). Names are those of the environment variables. */

import type { z } from 'zod'
import { DECLARED_TICKETING_DIR, DECLARED_TICKETING_FILE } from './declared-ticketing-files.ts'
import { OPERATOR_NAME } from './operator-name.ts'
import { PORTS, ROLE_NAMES, type RoleName } from './roles.ts'
import {
  API_KEY,
  BROKERS,
  ENCRYPTION_KEYS,
  HTTP_URL,
  httpUrl,
  inAnyCase,
  integer,
  NAMESPACE,
  NAMESPACES,
  oneOf,
  PASSWORD,
  PORT,
  positiveNumber,
  REDIS_URL,
  type Setting,
  TENANT_ID,
  TENANT_IDS,
  TEXT,
  TOPIC_NAME,
  USERNAME,
  type ValueKind,
} from './setting.ts'
import { DEFAULT_TENANT } from './tenant-id.ts'
import { TOPIC_MODES, TOPICS } from './topics.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** The embedded store of the `search` role on this machine. */
const LOCAL_SEARCH = `http://127.0.0.1:${PORTS.search}`

const BUS_CLIENTS = ['platformatic', 'kafkajs'] as const
export type BusClient = (typeof BUS_CLIENTS)[number]

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const STREAM = ['stream etl', 'stream score'] as const
const ON_THE_BUS = ['standalone', 'collector', 'bridge', ...STREAM, 'agent'] as const
const WITH_SEARCH = ['standalone', 'gateway', 'dashboard', 'bridge', 'ticketing', 'agent', 'scheduler'] as const
const WITH_ONLINE_STORE = ['standalone', 'bridge', 'stream etl', 'features', 'scheduler'] as const

/** A port that roles listen on. */
function listener<const R extends readonly RoleName[]>(description: string, roles: R, port: number) {
  return { description, roles, value: PORT, distinct: 'port', default: String(port) } as const
}

/** Where roles reach another role; by default it is on the same machine. */
function backEnd<const R extends readonly RoleName[]>(description: string, roles: R, port: number) {
  const url = `http://127.0.0.1:${port}`
  return { description, roles, value: httpUrl(url), default: url } as const
}

const PARTITIONS = {
  roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
  value: integer(1, 1_000),
} as const

export const SETTINGS = {
  HOST: {
    description: 'Address to listen on',
    roles: ROLE_NAMES,
    value: TEXT,
    default: '0.0.0.0',
    defaultFor: { standalone: '127.0.0.1' },
  },
  LOG_LEVEL: {
    description: 'Least severe log line that is written',
    roles: ROLE_NAMES,
    value: oneOf(LOG_LEVELS),
    default: 'info',
  },
  DATA_DIR: {
    description: 'Directory of the embedded storage',
    roles: ['standalone', 'collector', 'bridge', 'stream etl', 'agent', 'features', 'scheduler', 'search'],
    value: TEXT,
    default: './data',
  },
  GATEWAY_PORT: listener('The gateway: TLS with HTTP/1.1, HTTP/2 and gRPC', ['standalone', 'gateway'], PORTS.gateway),
  DASHBOARD_PORT: listener('The console, the keyless `/api/<service>/...` and uploads', ['standalone', 'dashboard'], PORTS.dashboard),
  DASHBOARD_USERNAME: {
    description: 'User name that the dashboard asks for where it has a password',
    roles: ['standalone', 'dashboard'],
    value: USERNAME,
    default: 'admin',
  },
  DASHBOARD_PASSWORD: {
    description: 'Password of the dashboard, for those who expose it; empty: it asks for none',
    roles: ['standalone', 'dashboard'],
    value: PASSWORD,
    secret: true,
  },
  OTLP_GRPC_PORT: listener('OTLP over gRPC', ['standalone', 'collector'], PORTS.otlpGrpc),
  OTLP_HTTP_PORT: listener('OTLP over HTTP', ['standalone', 'collector'], PORTS.otlpHttp),
  HEALTH_PORT: {
    description: "The collector's health and metrics; the gateway's, in plain text and without a key",
    roles: ['standalone', 'gateway', 'collector'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.health),
    defaultFor: { gateway: String(PORTS.gatewayHealth) },
  },
  BRIDGE_PORT: listener("The bridge's control API", ['standalone', 'bridge'], PORTS.bridge),
  TICKETING_PORT: listener('The ticketing API', ['standalone', 'ticketing'], PORTS.ticketing),
  FEATURES_PORT: listener('The online feature server', ['standalone', 'features'], PORTS.features),
  SCHEDULER_PORT: listener('The workflow scheduler within standalone', ['standalone'], PORTS.scheduler),
  AGENT_PORT: listener('The infrastructure agent within standalone', ['standalone'], PORTS.agent),
  PORT: {
    description: "The role's API",
    roles: ['agent', 'scheduler', ...STREAM, 'operator'],
    value: PORT,
    default: '8080',
    defaultFor: { 'stream etl': String(PORTS.stream), 'stream score': String(PORTS.stream), operator: String(PORTS.operator) },
  },
  SEARCH_PORT: listener('The embedded search store', ['standalone', 'search'], PORTS.search),
  SERVICE_TENANT_ID: {
    description:
      'Tenant of records whose resource names none in `tenant_id`; the agent: tenant whose cluster resources it shows; the gateway: tenant of `BOOTSTRAP_KEY`',
    roles: ['standalone', 'gateway', 'collector', 'agent'],
    requiredFor: ['agent'],
    value: TENANT_ID,
    default: DEFAULT_TENANT,
  },
  MAX_REQUEST_BYTES: {
    description: 'Largest OTLP request, before and after decompression',
    roles: ['standalone', 'gateway', 'dashboard', 'collector'],
    value: integer(1024, 256 * MIB),
    default: String(64 * MIB),
  },
  MAX_PENDING_BYTES: {
    description: 'Request bytes held in memory at once before the collector, the gateway or the dashboard answers 429',
    roles: ['standalone', 'gateway', 'dashboard', 'collector'],
    value: integer(MIB, 64 * GIB),
    default: String(128 * MIB),
  },
  BUS_BROKERS: {
    description: 'Kafka brokers, comma-separated; empty: the embedded bus',
    roles: ON_THE_BUS,
    requiredFor: STREAM,
    value: BROKERS,
  },
  BUS_CLIENT: {
    description: 'Client library for Kafka',
    roles: ON_THE_BUS,
    value: oneOf(BUS_CLIENTS),
    // `kafkajs` commits offsets without the member's generation, so that one that lost its partitions is not kept out.
    valueFor: { 'stream etl': oneOf(['platformatic']), 'stream score': oneOf(['platformatic']) },
    default: 'platformatic',
  },
  BUS_TLS: {
    description: 'Whether the Kafka brokers are spoken to over TLS',
    roles: ON_THE_BUS,
    value: oneOf(['true', 'false']),
    default: 'false',
  },
  BUS_CA_FILE: {
    description: "PEM file of the authority that signed the brokers' certificates; empty: those that Node knows",
    roles: ON_THE_BUS,
    value: TEXT,
    pem: 'certificate',
  },
  BUS_CERT_FILE: {
    description: 'PEM file of the certificate that brokers ask clients for',
    roles: ON_THE_BUS,
    value: TEXT,
    pem: 'certificate',
    needs: 'BUS_KEY_FILE',
  },
  BUS_KEY_FILE: {
    description: 'PEM file of the key that goes with it',
    roles: ON_THE_BUS,
    value: TEXT,
    pem: 'key',
    needs: 'BUS_CERT_FILE',
  },
  BUS_SASL_MECHANISM: {
    description: 'How `BUS_USERNAME` and `BUS_PASSWORD` are shown to the brokers; in capitals, as Kafka writes it, too',
    roles: ON_THE_BUS,
    value: inAnyCase(oneOf(SASL_MECHANISMS)),
    default: 'scram-sha-512',
  },
  BUS_USERNAME: {
    description: 'User name at the Kafka brokers; empty: no SASL',
    roles: ON_THE_BUS,
    value: TEXT,
    needs: 'BUS_PASSWORD',
  },
  BUS_PASSWORD: {
    description: 'Password that goes with it',
    roles: ON_THE_BUS,
    value: TEXT,
    needs: 'BUS_USERNAME',
    secret: true,
  },
  BUS_REPLICATION_FACTOR: {
    description: "Copies of each partition, for topics that are created in Kafka; empty: the brokers' own default",
    roles: ON_THE_BUS,
    value: integer(1, 32),
  },
  BUS_TOPICS: {
    description:
      'create: topics that are missing in Kafka are made; keep: at each start those with fewer partitions or another retention are set right as well; existing: neither',
    roles: ON_THE_BUS,
    value: oneOf(TOPIC_MODES),
    default: 'create',
  },
  BUS_MAX_BYTES: {
    description: 'Disk space of the embedded bus; beyond it what is read goes before its time, and records are refused when none is',
    roles: ['standalone', 'collector', 'bridge', 'agent'],
    value: integer(16 * MIB, 1024 * GIB),
    default: String(10 * GIB),
  },
  RAW_TOPIC: {
    description: 'Topic of OTLP batches',
    roles: ON_THE_BUS,
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.raw.name,
  },
  ENRICHED_TOPIC: {
    description: 'Topic of flat, enriched records',
    roles: ON_THE_BUS,
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.enriched.name,
  },
  ANOMALY_TOPIC: {
    description: 'Topic of scored anomalies',
    roles: ON_THE_BUS,
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.anomaly.name,
  },
  DEAD_LETTER_TOPIC: {
    description: 'Topic of records that could not be processed',
    roles: ON_THE_BUS,
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.deadLetter.name,
  },
  RAW_PARTITIONS: {
    ...PARTITIONS,
    description:
      'Partitions of RAW_TOPIC when it is made, so many members can share its work; a topic that is there keeps its own unless it has less (embedded bus)',
    default: String(TOPICS.raw.partitions),
  },
  ENRICHED_PARTITIONS: { ...PARTITIONS, description: 'The same of ENRICHED_TOPIC', default: String(TOPICS.enriched.partitions) },
  ANOMALY_PARTITIONS: { ...PARTITIONS, description: 'The same of ANOMALY_TOPIC', default: String(TOPICS.anomaly.partitions) },
  ETL_WORKERS: {
    description:
      'Worker threads that share the partitions of the thread `etl`, each a member of its group; empty: two on four cores and more with embedded bus and store, else one',
    roles: ['standalone', 'bridge'],
    value: integer(1, 64),
  },
  ANOMALY_THRESHOLD: {
    description: 'Z-score from which a record is an anomaly',
    roles: ['standalone', 'bridge', 'stream score'],
    value: positiveNumber(100),
    default: '2.5',
  },
  WINDOW_SIZE: {
    description: 'Values in the sliding window of the Z-score',
    roles: ['standalone', 'bridge', 'stream score'],
    value: integer(10, 100_000),
    default: '50',
  },
  RETENTION_DAYS: {
    description: 'Days that logs and anomalies are kept',
    roles: ['standalone', 'bridge', 'stream etl'],
    value: integer(1, 3650),
    default: '30',
  },
  INCIDENT_RETENTION_DAYS: {
    description: 'Days that resolved incidents are kept, with their audit entries, since something last happened to them; others stay',
    roles: ['standalone', 'bridge'],
    value: integer(1, 36_500),
    default: '365',
  },
  RETENTION_BYTES: {
    description:
      'Disk that daily indices of logs may take, with their replicas, in bytes; beyond it the oldest day goes before its time, never today; empty: RETENTION_DAYS alone counts',
    roles: ['standalone', 'bridge'],
    value: integer(1_048_576, 2 ** 50),
  },
  SEARCH_ENDPOINT: {
    description: 'URL of the search store; standalone, empty: its own embedded one',
    roles: WITH_SEARCH,
    value: HTTP_URL,
    defaultFor: {
      gateway: LOCAL_SEARCH,
      dashboard: LOCAL_SEARCH,
      bridge: LOCAL_SEARCH,
      ticketing: LOCAL_SEARCH,
      agent: LOCAL_SEARCH,
      scheduler: LOCAL_SEARCH,
    },
  },
  SEARCH_USERNAME: {
    description: 'User name for Basic authentication at the search store',
    roles: WITH_SEARCH,
    value: TEXT,
    needs: 'SEARCH_PASSWORD',
  },
  SEARCH_PASSWORD: {
    description: 'Password that goes with it',
    roles: WITH_SEARCH,
    value: TEXT,
    needs: 'SEARCH_USERNAME',
    secret: true,
  },
  SEARCH_CA_FILE: {
    description: "PEM file of the authority that signed the search store's certificate",
    roles: WITH_SEARCH,
    value: TEXT,
    pem: 'certificate',
  },
  BRIDGE_ENDPOINT: {
    description:
      'URL of the bridge; `stream score` follows its `anomalyThreshold` and `windowSize` as they change (empty: they stay as set here)',
    roles: ['gateway', 'dashboard', 'stream score'],
    value: httpUrl(`http://127.0.0.1:${PORTS.bridge}`),
    defaultFor: { gateway: `http://127.0.0.1:${PORTS.bridge}`, dashboard: `http://127.0.0.1:${PORTS.bridge}` },
  },
  COLLECTOR_ENDPOINT: backEnd('URL of the collector: OTLP over HTTP', ['gateway', 'dashboard'], PORTS.otlpHttp),
  COLLECTOR_GRPC_ENDPOINT: backEnd('URL of the collector: OTLP over gRPC', ['gateway'], PORTS.otlpGrpc),
  TICKETING_ENDPOINT: backEnd('URL of the ticketing agent', ['gateway', 'dashboard'], PORTS.ticketing),
  AGENT_ENDPOINT: backEnd('URL of the infrastructure agent', ['gateway', 'dashboard'], PORTS.agent),
  SCHEDULER_ENDPOINT: backEnd('URL of the workflow scheduler, or of an Airflow in its place', ['gateway', 'dashboard'], PORTS.scheduler),
  FEATURES_ENDPOINT: backEnd('URL of the online feature server', ['gateway', 'dashboard'], PORTS.features),
  ADMIN_TENANTS: {
    description:
      'Tenants, comma-separated, whose keys may ask what speaks for all tenants: metrics of processes, configuration of the bridge',
    roles: ['standalone', 'gateway'],
    value: TENANT_IDS,
  },
  BOOTSTRAP_KEY: {
    description: 'A first API key, made where it is missing; its tenant is `SERVICE_TENANT_ID`. Once revoked it stays so',
    roles: ['standalone', 'gateway'],
    value: API_KEY,
    secret: true,
  },
  KEY_REQUESTS_PER_SECOND: {
    description: 'Requests a second for which one API key is good; beyond it the gateway answers 429; empty: no limit',
    roles: ['standalone', 'gateway'],
    value: integer(1, 1_000_000),
  },
  TLS_CERT_FILE: {
    description:
      "PEM file of the gateway's certificate, with those that lead to its authority; read again when it changes; empty: a self-signed one",
    roles: ['standalone', 'gateway'],
    value: TEXT,
    pem: 'certificate',
    needs: 'TLS_KEY_FILE',
  },
  TLS_KEY_FILE: {
    description: 'PEM file of the key that goes with it',
    roles: ['standalone', 'gateway'],
    value: TEXT,
    pem: 'key',
    needs: 'TLS_CERT_FILE',
  },
  SEARCH_SHARDS: {
    description: "Primary shards of new indices of logs; empty: the search store's own default",
    roles: ['standalone', 'bridge'],
    value: integer(1, 1_024),
  },
  SEARCH_REPLICAS: {
    description: "Copies of each shard of new indices; empty: the search store's own default",
    roles: ['standalone', 'bridge'],
    value: integer(0, 32),
  },
  STREAM_ETL_ENDPOINT: {
    description: 'Health address of the stream job for ETL and enrichment, such as http://stream-etl:9464; empty: there is none',
    roles: ['standalone', 'agent'],
    value: HTTP_URL,
  },
  STREAM_SCORE_ENDPOINT: {
    description: 'Health address of the stream job for scoring; empty: there is none',
    roles: ['standalone', 'agent'],
    value: HTTP_URL,
  },
  LLM_TOKENS_PER_HOUR: {
    description: 'Tokens that a tenant may use of a language model in an hour; incidents beyond keep the words of the rules',
    roles: ['standalone', 'ticketing'],
    value: integer(0, 1_000_000_000),
    default: '200000',
  },
  ONLINE_STORE_URL: {
    description: 'URL of the Redis or Valkey that holds the ML features; empty: the embedded store in `DATA_DIR`',
    roles: WITH_ONLINE_STORE,
    value: REDIS_URL,
    secret: true,
  },
  ONLINE_STORE_USERNAME: {
    description: 'User name at the online store, in place of one in its URL',
    roles: WITH_ONLINE_STORE,
    value: TEXT,
    needs: 'ONLINE_STORE_PASSWORD',
  },
  ONLINE_STORE_PASSWORD: {
    description: 'Password at the online store, in place of one in its URL',
    roles: WITH_ONLINE_STORE,
    value: TEXT,
    needs: 'ONLINE_STORE_URL',
    secret: true,
  },
  TICKETING_CONFIG_DIR: {
    description: `Directory of declared ticketing configuration (\`${DECLARED_TICKETING_FILE}\`, each secret field in \`<platform>.<field>\` or \`<platform>.<name>.<field>\`); one that is not there declares nothing`,
    roles: ['standalone', 'bridge', 'ticketing'],
    value: TEXT,
    default: DECLARED_TICKETING_DIR,
    directory: true,
  },
  ENCRYPTION_KEY: {
    description:
      'Key under which secrets of ticket platforms and models are kept in the search store; empty: none can be stored (standalone: made once, in `DATA_DIR/encryption-key`)',
    roles: ['standalone', 'ticketing'],
    value: ENCRYPTION_KEYS,
    secret: true,
  },
  ALLOW_PRIVATE_TARGETS: {
    description: 'Whether ticket platforms and models may have plain http and private addresses',
    roles: ['standalone', 'ticketing'],
    value: oneOf(['true', 'false']),
    default: 'false',
    defaultFor: { standalone: 'true' },
  },
  PUBLIC_URL: {
    description:
      'URL of the console as users open it, with a path where a proxy serves it below one: the dashboard answers under it, and tickets link to it; empty: tickets have no links (standalone on 127.0.0.1: they lead to its console)',
    roles: ['standalone', 'dashboard', 'ticketing'],
    value: HTTP_URL,
  },
  SERVICE_NAMESPACE: {
    description: 'Namespace of the cluster resources that the agent shows; empty: its own, or that of the context of the kubeconfig',
    roles: ['agent'],
    value: NAMESPACE,
  },
  KUBECONFIG: {
    description:
      'Paths of kubeconfig files, separated by colons; empty: the service account of the pod, else `~/.kube/config` (agent: no cluster)',
    roles: ['agent', 'operator'],
    value: TEXT,
  },
  OPERATOR_IMAGE: {
    description:
      "Image that components run when their LogPipeline names none; empty: `logpipeline` with the operator's own version as its tag",
    roles: ['operator'],
    value: TEXT,
  },
  WATCH_NAMESPACES: {
    description: 'Namespaces that the operator looks after, comma-separated; empty: all',
    roles: ['operator'],
    value: NAMESPACES,
    default: '',
  },
  LEADER_ELECTION: {
    description: 'Whether of several operators one leads; false: this one alone works',
    roles: ['operator'],
    value: oneOf(['true', 'false']),
    default: 'true',
  },
  POD_NAMESPACE: {
    description: "Namespace of the operator's Lease; empty: that of the service account or of the kubeconfig's context",
    roles: ['operator'],
    value: NAMESPACE,
  },
  LEASE_NAME: {
    description: "Name of the operator's Lease: of those that share it one leads",
    roles: ['operator'],
    value: TEXT,
    default: OPERATOR_NAME,
  },
  POD_NAME: {
    description: 'Name under which the operator leads and writes events; empty: the name of the host',
    roles: ['operator'],
    value: TEXT,
  },
} as const satisfies Readonly<Record<string, Setting>>

type Table = typeof SETTINGS
export type SettingName = keyof Table

type HasDefault<S, R> = S extends { readonly default: string }
  ? true
  : S extends { readonly defaultFor: { readonly [K in R & string]: string } }
    ? true
    : false
type ValueOf<S> = S extends { readonly value: ValueKind<infer T> } ? T : never

/** Settings that every role has. */
export interface CommonSettings {
  readonly HOST: string
  readonly LOG_LEVEL: LogLevel
}

/** The parsed settings of a role; `undefined` where a setting has no default and none is given. */
export type SettingsOf<R extends RoleName> = CommonSettings & {
  readonly [K in SettingName as R extends Table[K]['roles'][number] ? K : never]:
    | ValueOf<Table[K]>
    | (HasDefault<Table[K], R> extends true ? never : undefined)
}

export type SettingsTable = readonly (readonly [SettingName, Setting])[]

/** The settings of the table that a role knows, in the table's order. */
export function settingsOfRole(role: RoleName): SettingsTable {
  const entries = Object.entries(SETTINGS) as [SettingName, Setting][]
  return entries.filter(([, setting]) => setting.roles.includes(role))
}

/** The settings of the ports that a role listens on. */
export function portSettings(role: RoleName): readonly SettingName[] {
  return settingsOfRole(role).flatMap(([name, { distinct }]) => (distinct === 'port' ? [name] : []))
}

export function defaultOf(setting: Setting, role: RoleName): string | undefined {
  if (setting.requiredFor?.includes(role)) return undefined
  return setting.defaultFor?.[role] ?? setting.default
}

/** The default that people are shown: none where it is empty, as the description says what that means. */
export function shownDefaultOf(setting: Setting, role: RoleName): string | undefined {
  return defaultOf(setting, role) || undefined
}

export function kindOf(setting: Setting, role: RoleName): ValueKind<unknown> {
  return setting.valueFor?.[role] ?? setting.value
}

/** Takes the text of a setting, or undefined where it is not set. */
export function settingSchema(setting: Setting, role: RoleName): z.ZodType<unknown> {
  const { schema } = kindOf(setting, role)
  const value = defaultOf(setting, role)
  if (value !== undefined) return schema.prefault(value)
  return setting.requiredFor?.includes(role) ? schema : schema.optional()
}
