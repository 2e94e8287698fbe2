/** Every setting as data, and one schema per role built from it (Decisions 2). Names are those of the environment variables. */

import { z } from 'zod'
import { DECLARED_TICKETING_DIR, DECLARED_TICKETING_FILE } from './declared-ticketing-files.ts'
import { OPERATOR_NAME } from './operator-name.ts'
import { PORTS, type RoleName } from './roles.ts'
import {
  API_KEY,
  BROKERS,
  ENCRYPTION_KEYS,
  HTTP_URL,
  httpUrl,
  integer,
  NAMESPACE,
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
import { TOPICS } from './topics.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** The embedded store of the `search` role on this machine. */
const LOCAL_SEARCH = `http://127.0.0.1:${PORTS.search}`

export const BUS_CLIENTS = ['platformatic', 'kafkajs'] as const
export type BusClient = (typeof BUS_CLIENTS)[number]

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const STREAM = ['stream etl', 'stream score'] as const

export const SETTINGS = {
  HOST: {
    description: 'Address to listen on',
    roles: [
      'standalone',
      'gateway',
      'dashboard',
      'collector',
      'bridge',
      ...STREAM,
      'ticketing',
      'agent',
      'features',
      'scheduler',
      'search',
      'operator',
    ],
    value: TEXT,
    default: '0.0.0.0',
    defaultFor: { standalone: '127.0.0.1' },
  },
  LOG_LEVEL: {
    description: 'Least severe log line that is written',
    roles: [
      'standalone',
      'gateway',
      'dashboard',
      'collector',
      'bridge',
      ...STREAM,
      'ticketing',
      'agent',
      'features',
      'scheduler',
      'search',
      'operator',
    ],
    value: oneOf(LOG_LEVELS),
    default: 'info',
  },
  DATA_DIR: {
    description: 'Directory of the embedded storage',
    roles: ['standalone', 'collector', 'bridge', 'stream etl', 'agent', 'features', 'scheduler', 'search'],
    value: TEXT,
    default: './data',
  },
  GATEWAY_PORT: {
    description: 'The gateway: TLS with HTTP/1.1, HTTP/2 and gRPC',
    roles: ['standalone', 'gateway'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.gateway),
  },
  DASHBOARD_PORT: {
    description: 'The console, the keyless `/api/<service>/...` and uploads',
    roles: ['standalone', 'dashboard'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.dashboard),
  },
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
  OTLP_GRPC_PORT: {
    description: 'OTLP over gRPC',
    roles: ['standalone', 'collector'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.otlpGrpc),
  },
  OTLP_HTTP_PORT: {
    description: 'OTLP over HTTP',
    roles: ['standalone', 'collector'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.otlpHttp),
  },
  HEALTH_PORT: {
    description: "The collector's health and metrics; the gateway's, in plain text and without a key",
    roles: ['standalone', 'gateway', 'collector'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.health),
    defaultFor: { gateway: String(PORTS.gatewayHealth) },
  },
  BRIDGE_PORT: {
    description: "The bridge's control API",
    roles: ['standalone', 'bridge'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.bridge),
  },
  TICKETING_PORT: {
    description: 'The ticketing API',
    roles: ['standalone', 'ticketing'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.ticketing),
  },
  FEATURES_PORT: {
    description: 'The online feature server',
    roles: ['standalone', 'features'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.features),
  },
  SCHEDULER_PORT: {
    description: 'The workflow scheduler within standalone',
    roles: ['standalone'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.scheduler),
  },
  AGENT_PORT: {
    description: 'The infrastructure agent within standalone',
    roles: ['standalone'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.agent),
  },
  PORT: {
    description: "The role's API",
    roles: ['agent', 'scheduler', ...STREAM, 'operator'],
    value: PORT,
    default: '8080',
    defaultFor: { 'stream etl': String(PORTS.stream), 'stream score': String(PORTS.stream), operator: String(PORTS.operator) },
  },
  SEARCH_PORT: {
    description: 'The embedded search store',
    roles: ['standalone', 'search'],
    value: PORT,
    distinct: 'port',
    default: String(PORTS.search),
  },
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
    default: String(192 * MIB),
  },
  BUS_BROKERS: {
    description: 'Kafka brokers, comma-separated; empty: the embedded bus',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    requiredFor: STREAM,
    value: BROKERS,
  },
  BUS_CLIENT: {
    description: 'Client library for Kafka',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: oneOf(BUS_CLIENTS),
    // `kafkajs` commits offsets without the member's generation, so that one that lost its partitions is not kept out.
    valueFor: { 'stream etl': oneOf(['platformatic']), 'stream score': oneOf(['platformatic']) },
    default: 'platformatic',
  },
  BUS_TLS: {
    description: 'Whether the Kafka brokers are spoken to over TLS',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: oneOf(['true', 'false']),
    default: 'false',
  },
  BUS_CA_FILE: {
    description: "PEM file of the authority that signed the brokers' certificates; empty: those that Node knows",
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TEXT,
    isFile: true,
  },
  BUS_CERT_FILE: {
    description: 'PEM file of the certificate that brokers ask clients for',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TEXT,
    isFile: true,
    needs: 'BUS_KEY_FILE',
  },
  BUS_KEY_FILE: {
    description: 'PEM file of the key that goes with it',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TEXT,
    isFile: true,
    needs: 'BUS_CERT_FILE',
  },
  BUS_SASL_MECHANISM: {
    description: 'How `BUS_USERNAME` and `BUS_PASSWORD` are shown to the brokers',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: oneOf(SASL_MECHANISMS),
    default: 'scram-sha-512',
  },
  BUS_USERNAME: {
    description: 'User name at the Kafka brokers; empty: no SASL',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TEXT,
    needs: 'BUS_PASSWORD',
  },
  BUS_PASSWORD: {
    description: 'Password that goes with it',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TEXT,
    needs: 'BUS_USERNAME',
    secret: true,
  },
  BUS_REPLICATION_FACTOR: {
    description: "Copies of each partition, for topics that are created in Kafka; empty: the brokers' own default",
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: integer(1, 32),
  },
  BUS_MAX_BYTES: {
    description: 'Disk space of the embedded bus; beyond it what is read goes before its time, and records are refused when none is',
    roles: ['standalone', 'collector', 'bridge', 'agent'],
    value: integer(16 * MIB, 1024 * GIB),
    default: String(10 * GIB),
  },
  RAW_TOPIC: {
    description: 'Topic of OTLP batches',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.raw.name,
  },
  ENRICHED_TOPIC: {
    description: 'Topic of flat, enriched records',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.enriched.name,
  },
  ANOMALY_TOPIC: {
    description: 'Topic of scored anomalies',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.anomaly.name,
  },
  DEAD_LETTER_TOPIC: {
    description: 'Topic of records that could not be processed',
    roles: ['standalone', 'collector', 'bridge', ...STREAM, 'agent'],
    value: TOPIC_NAME,
    distinct: 'topic',
    default: TOPICS.deadLetter.name,
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
  SEARCH_ENDPOINT: {
    description: 'URL of the search store; standalone, empty: its own embedded one',
    roles: ['standalone', 'gateway', 'dashboard', 'bridge', 'ticketing', 'agent', 'scheduler'],
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
    roles: ['standalone', 'gateway', 'dashboard', 'bridge', 'ticketing', 'agent', 'scheduler'],
    value: TEXT,
  },
  SEARCH_PASSWORD: {
    description: 'Password that goes with it',
    roles: ['standalone', 'gateway', 'dashboard', 'bridge', 'ticketing', 'agent', 'scheduler'],
    value: TEXT,
    needs: 'SEARCH_USERNAME',
    secret: true,
  },
  SEARCH_CA_FILE: {
    description: "PEM file of the authority that signed the search store's certificate",
    roles: ['standalone', 'gateway', 'dashboard', 'bridge', 'ticketing', 'agent', 'scheduler'],
    value: TEXT,
    isFile: true,
  },
  BRIDGE_ENDPOINT: {
    description:
      'URL of the bridge; `stream score` follows its `anomalyThreshold` and `windowSize` as they change (empty: they stay as set here)',
    roles: ['gateway', 'dashboard', 'stream score'],
    value: httpUrl(`http://127.0.0.1:${PORTS.bridge}`),
    defaultFor: { gateway: `http://127.0.0.1:${PORTS.bridge}`, dashboard: `http://127.0.0.1:${PORTS.bridge}` },
  },
  COLLECTOR_ENDPOINT: {
    description: 'URL of the collector: OTLP over HTTP',
    roles: ['gateway', 'dashboard'],
    value: httpUrl(`http://127.0.0.1:${PORTS.otlpHttp}`),
    default: `http://127.0.0.1:${PORTS.otlpHttp}`,
  },
  COLLECTOR_GRPC_ENDPOINT: {
    description: 'URL of the collector: OTLP over gRPC',
    roles: ['gateway'],
    value: httpUrl(`http://127.0.0.1:${PORTS.otlpGrpc}`),
    default: `http://127.0.0.1:${PORTS.otlpGrpc}`,
  },
  TICKETING_ENDPOINT: {
    description: 'URL of the ticketing agent',
    roles: ['gateway', 'dashboard'],
    value: httpUrl(`http://127.0.0.1:${PORTS.ticketing}`),
    default: `http://127.0.0.1:${PORTS.ticketing}`,
  },
  AGENT_ENDPOINT: {
    description: 'URL of the infrastructure agent',
    roles: ['gateway', 'dashboard'],
    value: httpUrl(`http://127.0.0.1:${PORTS.agent}`),
    default: `http://127.0.0.1:${PORTS.agent}`,
  },
  SCHEDULER_ENDPOINT: {
    description: 'URL of the workflow scheduler, or of an Airflow in its place',
    roles: ['gateway', 'dashboard'],
    value: httpUrl(`http://127.0.0.1:${PORTS.scheduler}`),
    default: `http://127.0.0.1:${PORTS.scheduler}`,
  },
  FEATURES_ENDPOINT: {
    description: 'URL of the online feature server',
    roles: ['gateway', 'dashboard'],
    value: httpUrl(`http://127.0.0.1:${PORTS.features}`),
    default: `http://127.0.0.1:${PORTS.features}`,
  },
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
    isFile: true,
    needs: 'TLS_KEY_FILE',
  },
  TLS_KEY_FILE: {
    description: 'PEM file of the key that goes with it',
    roles: ['standalone', 'gateway'],
    value: TEXT,
    isFile: true,
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
    roles: ['standalone', 'bridge', 'stream etl', 'features', 'scheduler'],
    value: REDIS_URL,
    secret: true,
  },
  TICKETING_CONFIG_DIR: {
    description: `Directory of declared ticketing configuration (\`${DECLARED_TICKETING_FILE}\`, each secret field in \`<platform>.<field>\` or \`<platform>.<name>.<field>\`); one that is not there declares nothing`,
    roles: ['standalone', 'bridge', 'ticketing'],
    value: TEXT,
    default: DECLARED_TICKETING_DIR,
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
      'URL of the console as users open it: the dashboard answers under it, and tickets link to it; empty: tickets have no links',
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
    description: 'Image that components run when their LogPipeline names none',
    roles: ['operator'],
    requiredFor: ['operator'],
    value: TEXT,
  },
  WATCH_NAMESPACES: {
    description: 'Namespaces that the operator looks after, comma-separated; empty: all',
    roles: ['operator'],
    value: TEXT,
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
    value: TEXT,
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

/** The settings of the table that a role knows, in the table's order. */
export function settingsOfRole(role: RoleName): readonly (readonly [SettingName, Setting])[] {
  const entries = Object.entries(SETTINGS) as [SettingName, Setting][]
  return entries.filter(([, setting]) => setting.roles.includes(role))
}

export function defaultOf(setting: Setting, role: RoleName): string | undefined {
  if (setting.requiredFor?.includes(role)) return undefined
  return setting.defaultFor?.[role] ?? setting.default
}

export function kindOf(setting: Setting, role: RoleName): ValueKind<unknown> {
  return setting.valueFor?.[role] ?? setting.value
}

/** The schema of one role: texts of the environment in, `SettingsOf<role>` out. */
export function settingsSchema<R extends RoleName>(role: R): z.ZodType<SettingsOf<R>> {
  const shape = settingsOfRole(role).map(([name, setting]) => {
    const { schema } = kindOf(setting, role)
    const value = defaultOf(setting, role)
    if (value !== undefined) return [name, schema.prefault(value)] as const
    return [name, setting.requiredFor?.includes(role) ? schema : schema.optional()] as const
  })
  return z.strictObject(Object.fromEntries(shape)) as unknown as z.ZodType<SettingsOf<R>>
}
