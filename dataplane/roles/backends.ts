/** Bus, search store and online store, opened as the settings name them: for roles, their threads, standalone and commands. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { BusShare, EmbeddedBus } from '../adapters/bus/embedded/embedded-bus.ts'
import type { KafkaConfig } from '../adapters/bus/kafka/both-clients/kafka-config.ts'
import type { SearchConnectionConfig } from '../adapters/search/transport.ts'
import { readersOf } from '../contract/consumer-groups.ts'
import type { BusClient, SettingsOf } from '../contract/env.ts'
import { TOPICS, type TopicConfig } from '../contract/topics.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { OnlineStore } from '../ports/online-store.ts'
import type { SearchStore } from '../ports/search-store.ts'
import type { Running } from '../process/running.ts'
import type { Log } from '../telemetry/log.ts'
import { checkSearchStore } from './check-search-store.ts'
import { noteFormat, refuseLaterFormat } from './data-format.ts'
import { openPatiently, type PatientBus } from './patient-bus.ts'

const KAFKA_SETTINGS = [
  'BUS_BROKERS',
  'BUS_CLIENT',
  'BUS_TLS',
  'BUS_CA_FILE',
  'BUS_CERT_FILE',
  'BUS_KEY_FILE',
  'BUS_SASL_MECHANISM',
  'BUS_USERNAME',
  'BUS_PASSWORD',
  'BUS_REPLICATION_FACTOR',
  'BUS_TOPICS',
  'RAW_TOPIC',
  'ENRICHED_TOPIC',
  'ANOMALY_TOPIC',
  'DEAD_LETTER_TOPIC',
] as const
const PARTITION_SETTINGS = ['RAW_PARTITIONS', 'ENRICHED_PARTITIONS', 'ANOMALY_PARTITIONS'] as const
const KAFKA_BUS_SETTINGS = [...KAFKA_SETTINGS, ...PARTITION_SETTINGS] as const

/** The settings that `openBus` takes, for commands that load no others. */
export const BUS_SETTINGS = ['DATA_DIR', 'BUS_MAX_BYTES', ...KAFKA_BUS_SETTINGS] as const

export type BusSettings = Pick<SettingsOf<'bridge'>, 'DATA_DIR' | 'BUS_MAX_BYTES'> & KafkaBusSettings

/** Partitions that are absent are as the specification has them. */
export type KafkaBusSettings = Pick<SettingsOf<'bridge'>, (typeof KAFKA_SETTINGS)[number]> & {
  readonly [K in (typeof PARTITION_SETTINGS)[number]]?: number | undefined
}

/** Data by which another thread comes to the same bus, once: `ports` go into the transfer list. */
export type BusLink =
  | { readonly kind: 'embedded'; readonly share: BusShare; readonly ports: MessagePort[] }
  | { readonly kind: 'kafka'; readonly settings: KafkaBusSettings; readonly ports: [] }

export interface RoleBus extends PatientBus {
  link(): BusLink
}

/** The settings that `connectSearchStore` takes, for commands that load no others. */
export const SEARCH_STORE_SETTINGS = ['SEARCH_ENDPOINT', 'SEARCH_USERNAME', 'SEARCH_PASSWORD', 'SEARCH_CA_FILE'] as const

export interface SearchStoreSettings {
  readonly SEARCH_ENDPOINT: string
  readonly SEARCH_USERNAME?: string | undefined
  readonly SEARCH_PASSWORD?: string | undefined
  readonly SEARCH_CA_FILE?: string | undefined
}

/** The settings that `openOnlineStore` takes, for commands that load no others. */
export const ONLINE_STORE_SETTINGS = ['DATA_DIR', 'ONLINE_STORE_URL', 'ONLINE_STORE_USERNAME', 'ONLINE_STORE_PASSWORD'] as const

export interface OnlineStoreSettings {
  readonly ONLINE_STORE_URL?: string | undefined
  readonly ONLINE_STORE_USERNAME?: string | undefined
  readonly ONLINE_STORE_PASSWORD?: string | undefined
  readonly DATA_DIR: string
}

interface BusDeps {
  readonly clock: Clock
  readonly log: Log
}

/** The stores and the bus of one process. Each is opened at its first use and shared from then on; a failed attempt is made again by the next use. */
export interface Backends extends Running {
  /** As `openRoleBus`; what it says goes to `log`, by default that of the process. */
  bus(settings: BusSettings, log?: Log): Promise<RoleBus>
  /** Rejects when the server at `SEARCH_ENDPOINT` can never do (`checkSearchStore`). */
  searchStore(settings: SearchStoreSettings): Promise<SearchStore>
  onlineStore(settings: OnlineStoreSettings): Promise<OnlineStore>
}

/** `stop` closes what is open by then, and does not wait for attempts under way: these close what they open. */
export function createBackends({ clock, log }: BusDeps): Backends {
  const opened = new AsyncDisposableStack()
  let stopped: Promise<void> | undefined
  const once = <A extends unknown[], T>(open: (...args: A) => Promise<T>, close: (backend: T) => Promise<unknown>) => {
    let opening: Promise<T> | undefined
    const attempt = async (args: A): Promise<T> => {
      try {
        const backend = await open(...args)
        if (stopped === undefined) return opened.adopt(backend, async () => void (await close(backend)))
        await close(backend)
        throw new Error('stopped while it was being opened')
      } catch (error) {
        opening = undefined
        throw error
      }
    }
    return (...args: A): Promise<T> => (opening ??= attempt(args))
  }
  const openSearchStore = async (settings: SearchStoreSettings): Promise<SearchStore> => {
    const store = await connectSearchStore(settings)
    try {
      await checkSearchStore(store, settings.SEARCH_ENDPOINT, log)
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }
  const openTestedOnlineStore = async (settings: OnlineStoreSettings): Promise<OnlineStore> => {
    const store = await openOnlineStore(settings)
    const { ONLINE_STORE_URL: url } = settings
    // Nobody waits for it: features are served once it answers.
    if (url !== undefined)
      store.version().catch(error => {
        const told = { onlineStore: new URL(url).host, error: (error as Error).message }
        if (stopped === undefined) log.warn(told, 'online store does not answer yet')
      })
    return store
  }
  return {
    bus: once(
      (settings, busLog = log) => openRoleBus(settings, clock, busLog),
      bus => bus.stop(),
    ),
    searchStore: once(openSearchStore, store => store.close()),
    onlineStore: once(openTestedOnlineStore, store => store.close()),
    stop: () => (stopped ??= opened.disposeAsync()),
  }
}

/**
 * The search store that the settings name, which need not answer; bulks go through `bulkPort` where there is one. Only a process that uses it loads its
 * client.
 */
export async function connectSearchStore(
  settings: SearchStoreSettings,
  { bulkPort, isBackground = false }: { readonly bulkPort?: MessagePort | undefined; readonly isBackground?: boolean } = {},
): Promise<SearchStore> {
  const store = (await import('../adapters/search/search-store.ts')).createSearchStore({ ...searchConnection(settings), isBackground })
  if (bulkPort === undefined) return store
  const { withBulkPort } = await import('../adapters/search/bulk-port-client.ts')
  const { createBulkWalker } = await import('../search-store/bulk-walker.ts')
  return withBulkPort(store, bulkPort, createBulkWalker())
}

export function searchConnection(settings: SearchStoreSettings): SearchConnectionConfig {
  return {
    endpoint: settings.SEARCH_ENDPOINT,
    username: settings.SEARCH_USERNAME,
    password: settings.SEARCH_PASSWORD,
    caFile: settings.SEARCH_CA_FILE,
  }
}

/** The online store that the settings name: Redis, or the embedded one in `DATA_DIR/features`. Only the one that is used is loaded. */
export async function openOnlineStore(settings: OnlineStoreSettings): Promise<OnlineStore> {
  const { DATA_DIR } = settings
  const url = onlineStoreUrl(settings)
  if (url !== undefined) return (await import('../adapters/online-store/redis/redis-online-store.ts')).createRedisOnlineStore({ url })
  refuseLaterFormat(DATA_DIR)
  return (await import('../adapters/online-store/embedded/embedded-online-store.ts')).openEmbeddedOnlineStore(join(DATA_DIR, 'features'))
}

/** With the user name and the password that are given beside it. */
function onlineStoreUrl({ ONLINE_STORE_URL, ONLINE_STORE_USERNAME, ONLINE_STORE_PASSWORD }: OnlineStoreSettings): string | undefined {
  if (ONLINE_STORE_URL === undefined || ONLINE_STORE_PASSWORD === undefined) return ONLINE_STORE_URL
  const url = new URL(ONLINE_STORE_URL)
  if (ONLINE_STORE_USERNAME !== undefined) url.username = encodeURIComponent(ONLINE_STORE_USERNAME)
  url.password = encodeURIComponent(ONLINE_STORE_PASSWORD)
  return url.href
}

/** The bus that the settings name: Kafka where they name brokers, with `config` besides, else the embedded one, in `DATA_DIR/bus`. */
export async function openBus(settings: BusSettings, clock: Clock, log: Log, config?: Partial<KafkaConfig>): Promise<Bus> {
  return settings.BUS_BROKERS === undefined ? openEmbedded(settings, clock, log) : openKafka(settings, { clock, log }, config)
}

/** As `openBus`, for a role, which goes on without its Kafka and waits for it; the log tells which bus it is. Rejects for wrong files of `BUS_*`. */
async function openRoleBus(settings: BusSettings, clock: Clock, log: Log): Promise<RoleBus> {
  if (settings.BUS_BROKERS !== undefined) return openRoleKafka(settings, { clock, log })
  const bus = await openEmbedded(settings, clock, log)
  log.info({}, `bus: embedded, DATA_DIR ${resolve(settings.DATA_DIR)} (for this process alone)`)
  return {
    ...bus,
    isOpen: true,
    opened: async () => undefined,
    link() {
      const share = bus.share()
      return { kind: 'embedded', share, ports: [share.port] }
    },
  }
}

/** A bus on the Kafka that the settings name, which need not answer yet. Rejects for wrong files of `BUS_*`. */
export async function openRoleKafka(
  settings: KafkaBusSettings,
  { clock, log }: BusDeps,
  config: Partial<KafkaConfig> = {},
): Promise<RoleBus> {
  const link: BusLink = { kind: 'kafka', settings: pickBusSettings(settings), ports: [] }
  const brokers = settings.BUS_BROKERS!
  kafkaConfig(settings) // reads the files
  log.info({}, `bus: Kafka at ${brokers}`)
  const open = (reachTimeoutMs: number) => openKafka(link.settings, { clock, log }, { ...config, reachTimeoutMs })
  const bus = await openPatiently({ open, brokers, clock, log })
  return Object.assign(bus, { link: () => link })
}

const loadEmbedded = () => import('../adapters/bus/embedded/embedded-bus.ts')

/** The embedded bus in `DATA_DIR/bus`. Rejects with `DirectoryInUse`. */
export async function openEmbedded(settings: BusSettings, clock: Clock, log: Log): Promise<EmbeddedBus> {
  refuseLaterFormat(settings.DATA_DIR)
  const { openEmbeddedBus } = await loadEmbedded()
  const dir = join(settings.DATA_DIR, 'bus')
  const bus = await openEmbeddedBus({ dir, topics: topicsOf(settings), maxBytes: settings.BUS_MAX_BYTES, clock, log })
  noteFormat(settings.DATA_DIR)
  return bus
}

/** The bus in another thread than that which opened it. */
export async function connectBus(link: BusLink, deps: BusDeps): Promise<Bus> {
  return link.kind === 'embedded' ? (await loadEmbedded()).attachEmbeddedBus(link.share, deps) : openKafka(link.settings, deps)
}

/** Only the client that is used is loaded. */
const CLIENTS: Readonly<Record<BusClient, () => Promise<(config: KafkaConfig) => Promise<Bus>>>> = {
  platformatic: async () => (await import('../adapters/bus/kafka/kafka-bus.ts')).openKafkaBus,
  kafkajs: async () => (await import('../adapters/bus/kafkajs/kafkajs-bus.ts')).openKafkaJsBus,
}

/** A bus on the Kafka that the settings name. Rejects as `unavailable` when no broker answers. */
async function openKafka(settings: KafkaBusSettings, { clock, log }: BusDeps, config: Partial<KafkaConfig> = {}): Promise<Bus> {
  const open = await CLIENTS[settings.BUS_CLIENT]()
  return open({ ...kafkaConfig(settings), ...config, clock, log })
}

/** The configuration of Kafka from the settings. */
function kafkaConfig(settings: KafkaBusSettings): Omit<KafkaConfig, 'clock' | 'log'> {
  const { BUS_BROKERS, BUS_SASL_MECHANISM, BUS_USERNAME, BUS_PASSWORD, BUS_REPLICATION_FACTOR: replicationFactor } = settings
  const tls = tlsOf(settings)
  return {
    brokers: BUS_BROKERS!.split(','),
    topics: topicsOf(settings),
    topicMode: settings.BUS_TOPICS,
    ...(tls === undefined ? {} : { tls }),
    ...(replicationFactor === undefined ? {} : { replicationFactor }),
    ...(BUS_USERNAME === undefined || BUS_PASSWORD === undefined
      ? {}
      : { sasl: { mechanism: BUS_SASL_MECHANISM, username: BUS_USERNAME, password: BUS_PASSWORD } }),
  }
}

/** TLS is spoken when it is asked for, or when a file for it is given. */
function tlsOf({ BUS_TLS, BUS_CA_FILE, BUS_CERT_FILE, BUS_KEY_FILE }: KafkaBusSettings): KafkaConfig['tls'] {
  const files = Object.entries({ ca: BUS_CA_FILE, cert: BUS_CERT_FILE, key: BUS_KEY_FILE }).filter(([, path]) => path !== undefined)
  if (BUS_TLS === 'false' && files.length === 0) return undefined
  return Object.fromEntries(files.map(([name, path]) => [name, readFileSync(path!, 'utf8')]))
}

/** In the order in which records pass through them. */
function topicsOf(settings: KafkaBusSettings): readonly TopicConfig[] {
  const keys = Object.keys(TOPICS) as (keyof typeof TOPICS)[]
  const names = Object.fromEntries(keys.map(key => [key, settings[TOPICS[key].setting]])) as Record<keyof typeof TOPICS, string>
  return keys.map(key => {
    const { partitions: standard, partitionsSetting, retentionMs } = TOPICS[key]
    const partitions = (partitionsSetting && settings[partitionsSetting]) ?? standard
    return { name: names[key], partitions, retentionMs, readers: readersOf(key, names) }
  })
}

/** Nothing else goes to other threads: settings hold other secrets, too. */
function pickBusSettings(settings: KafkaBusSettings): KafkaBusSettings {
  return Object.fromEntries(KAFKA_BUS_SETTINGS.map(name => [name, settings[name]])) as unknown as KafkaBusSettings
}
