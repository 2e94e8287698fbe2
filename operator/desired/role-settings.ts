/** Settings of the data plane's roles, as the builders write them. */
import type { SettingName } from '../../dataplane/contract/env.ts'
import { TOPICS } from '../../dataplane/contract/topics.ts'
import { saslMechanism } from '../api/bus.ts'
import { isOffered } from '../api/components.ts'
import type { PipelineContext } from './pipeline-context.ts'

/** A key of a Secret or ConfigMap. */
export interface MountedKey {
  readonly kind: 'secret' | 'configMap'
  readonly name: string
  readonly key: string
}

/** One that is mounted as a file which a role reads as it starts. */
export interface FileSource extends MountedKey {
  /** Stands for the content in the hash over the inputs. */
  readonly content: string
}

/** A text, or a file that holds the value (`NAME_FILE`; a setting that is a path itself names it). */
export type SettingValue = string | FileSource

export type RoleSettings = Readonly<Partial<Record<SettingName, SettingValue>>>

/** Directory of embedded storage, as the image has it. */
export const DATA_DIR = '/data'

export const busConfigMapName = ({ name }: Pick<PipelineContext, 'name'>) => `${name}-bus`
export const BUS_CA_KEY = 'ca.crt'
export const BUS_USERNAME_KEY = 'username'

/** All addresses of the pod, of IPv4 and IPv6: which of them the cluster uses is not known. */
const EVERY_ADDRESS = '::'

export function commonSettings({ spec }: PipelineContext): RoleSettings {
  return { HOST: EVERY_ADDRESS, ...(spec.logLevel === undefined ? {} : { LOG_LEVEL: spec.logLevel }) }
}

export type TopicNames = Readonly<Record<keyof typeof TOPICS, string>>

/** Names of the pipeline's topics. */
export function topicNames({ topicPrefix }: Pick<PipelineContext, 'topicPrefix'>): TopicNames {
  return Object.fromEntries(Object.entries(TOPICS).map(([key, { name }]) => [key, topicPrefix + name])) as TopicNames
}

/** Only names that differ from the defaults. */
function topicSettings(context: PipelineContext): RoleSettings {
  const names = Object.entries(topicNames(context)) as [keyof typeof TOPICS, string][]
  const changed = names.filter(([key, name]) => name !== TOPICS[key].name)
  return Object.fromEntries(changed.map(([key, name]) => [TOPICS[key].setting, name]))
}

/** How the bus is reached; nothing in mode AllInOne. */
export function busSettings(context: PipelineContext): RoleSettings {
  const { bus, spec } = context
  if (bus === undefined || spec.bus === undefined) return {}
  const { sasl, replicationFactor, strimzi, topics } = spec.bus
  return {
    BUS_BROKERS: bus.brokers,
    ...topicSettings(context),
    ...(bus.isTls ? { BUS_TLS: 'true' } : {}),
    ...(bus.caCertificates === undefined ? {} : { BUS_CA_FILE: caFile(context, bus.caCertificates) }),
    ...secretSettings(context, ['BUS_CA_FILE', 'BUS_CERT_FILE', 'BUS_KEY_FILE', 'BUS_USERNAME', 'BUS_PASSWORD']),
    ...(sasl?.username === undefined ? {} : { BUS_USERNAME: sasl.username }),
    ...(sasl === undefined ? {} : { BUS_SASL_MECHANISM: saslMechanism(sasl) }),
    ...(topics === 'Existing' ? { BUS_TOPICS: 'existing' } : strimzi === undefined ? { BUS_TOPICS: 'keep' } : {}),
    ...(topics === 'Managed' && replicationFactor !== undefined ? { BUS_REPLICATION_FACTOR: String(replicationFactor) } : {}),
  }
}

function caFile(context: PipelineContext, content: string): FileSource {
  return { kind: 'configMap', name: busConfigMapName(context), key: BUS_CA_KEY, content }
}

export function searchSettings(context: PipelineContext): RoleSettings {
  const endpoint = context.spec.search?.endpoint
  if (endpoint === undefined) return {}
  return { SEARCH_ENDPOINT: endpoint, ...secretSettings(context, ['SEARCH_USERNAME', 'SEARCH_PASSWORD', 'SEARCH_CA_FILE']) }
}

/** Settings of the indices that the bridge makes. */
export function indexSettings({ spec: { search } }: PipelineContext): RoleSettings {
  return {
    ...numeric('RETENTION_DAYS', search?.retentionDays),
    ...numeric('INCIDENT_RETENTION_DAYS', search?.incidentRetentionDays),
    ...numeric('SEARCH_SHARDS', search?.shards),
    ...numeric('SEARCH_REPLICAS', search?.replicas),
  }
}

export function detectionSettings({ spec: { bridge } }: PipelineContext): RoleSettings {
  return { ...numeric('ANOMALY_THRESHOLD', bridge?.anomalyThreshold), ...numeric('WINDOW_SIZE', bridge?.windowSize) }
}

export function onlineStoreSettings(context: PipelineContext): RoleSettings {
  const { features } = context.spec
  if (features?.enabled !== true) return {}
  const url = features.onlineStore?.url
  return {
    ...(url === undefined ? {} : { ONLINE_STORE_URL: url }),
    ...secretSettings(context, ['ONLINE_STORE_URL', 'ONLINE_STORE_USERNAME', 'ONLINE_STORE_PASSWORD']),
  }
}

/** Settings of the ticketing agent, also within standalone. Standalone by itself allows private targets, so the setting is always given: a cluster has others beside its user. */
export function ticketingSettings(context: PipelineContext): RoleSettings {
  const { allowPrivateTargets = false } = context.spec.ticketing ?? {}
  return {
    ...secretSettings(context, ['ENCRYPTION_KEY']),
    ALLOW_PRIVATE_TARGETS: String(allowPrivateTargets),
    ...publicUrlSetting(context),
  }
}

/** Where users open the console: as the resource says, else by the Ingress of the dashboard. */
function publicUrlSetting({ spec }: PipelineContext): RoleSettings {
  const { host, tls } = (isOffered(spec, 'dashboard') && spec.dashboard?.ingress) || {}
  const ofIngress = host === undefined || host.startsWith('*') ? undefined : `${tls === undefined ? 'http' : 'https'}://${host}`
  const url = spec.ticketing?.publicUrl ?? ofIngress
  // A host that looks like an address and is none, such as 1.2.3.999, makes no URL.
  return url === undefined || !URL.canParse(url) ? {} : { PUBLIC_URL: url }
}

/** Where the gateway's certificate is mounted. */
export const TLS_DIR = '/etc/logpipeline/tls'

export function gatewaySettings(context: PipelineContext): RoleSettings {
  const { gateway, tenant } = context.spec
  if (!isOffered(context.spec, 'gateway')) return {}
  return {
    ...(gateway?.tls === undefined ? {} : { TLS_CERT_FILE: `${TLS_DIR}/tls.crt`, TLS_KEY_FILE: `${TLS_DIR}/tls.key` }),
    ...(gateway?.bootstrapKey === undefined ? {} : { ...secretSettings(context, ['BOOTSTRAP_KEY']), SERVICE_TENANT_ID: tenant }),
    ...numeric('KEY_REQUESTS_PER_SECOND', gateway?.requestsPerSecond),
    ...(gateway?.adminTenants?.length ? { ADMIN_TENANTS: gateway.adminTenants.join(',') } : {}),
  }
}

export function dashboardSettings(context: PipelineContext): RoleSettings {
  return { ...secretSettings(context, ['DASHBOARD_USERNAME', 'DASHBOARD_PASSWORD']), ...publicUrlSetting(context) }
}

/** Without an exponent, which settings do not take. */
function decimal(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}

export function numeric(name: SettingName, value: number | undefined): RoleSettings {
  return value === undefined ? {} : { [name]: decimal(value) }
}

function secretSettings({ secrets }: PipelineContext, names: readonly SettingName[]): RoleSettings {
  const found = names.flatMap(name => {
    const value = secrets[name]
    return value === undefined ? [] : [[name, { kind: 'secret', name: value.secret, key: value.key, content: value.base64 }] as const]
  })
  return Object.fromEntries(found)
}
