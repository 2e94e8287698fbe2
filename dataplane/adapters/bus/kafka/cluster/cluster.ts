/** Connections to the brokers, who of them leads or coordinates what, and how long a request is tried again. */
import { backOffMs } from '../../../../limits/back-off.ts'
import { BusError, closedError, unknownTopic } from '../../../../ports/bus.ts'
import { monotonicMs } from '../../../../ports/clock.ts'
import { settledWithin, withDeadline } from '../both-clients/deadline.ts'
import type { KafkaSettings } from '../both-clients/kafka-config.ts'
import { kafkaError } from '../both-clients/kafka-errors.ts'
import { type Broker, type Connection, ConnectionPool } from '../library.ts'
import { API_VERSIONS, type Api, FIND_COORDINATOR, METADATA } from './apis.ts'
import { codeName, codesOf, hasCode, isPassing, toBusError } from './protocol-errors.ts'
import { latestOf, type TopicMetadata, toMetadata } from './topic-metadata.ts'

/**
 * Requests of one lane wait for each other at a broker, so what may take long has a lane of its own. Joining waits for the group's other
 * members, and two processes that join two groups in opposite order would wait for each other: each group has its lane.
 */
export type Lane = 'control' | 'produce' | 'fetch' | 'fetch-beside' | `join ${string}`

const COORDINATOR_TYPES = { group: 0, transaction: 1 } as const
export type CoordinatorType = keyof typeof COORDINATOR_TYPES

const BACK_OFF = { firstMs: 50, maxMs: 1_000 }
const CLOSE_PATIENCE_MS = 1_000

/** Connections to the brokers, and who of them leads what. */
export class Cluster {
  readonly settings: KafkaSettings
  readonly #pools = new Map<Lane, ConnectionPool>()
  readonly #versions = new WeakMap<Connection, Promise<ReadonlyMap<number, number>>>()
  /** The same once it is known. */
  readonly #knownVersions = new WeakMap<Connection, ReadonlyMap<number, number>>()
  readonly #coordinators = new Map<string, number>()
  #brokers = new Map<number, Broker>()
  readonly #topics = new Map<string, TopicMetadata>()
  readonly #usedPartitions = new Map<string, number>()
  #refresh: Promise<void> | undefined
  #closed = false

  constructor(settings: KafkaSettings) {
    this.settings = settings
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get brokerCount(): number {
    return this.#brokers.size
  }

  /** The leaders of the partitions, by the latest elections that a broker told of. */
  topic(name: string): TopicMetadata {
    const topic = this.#topics.get(name)
    if (topic === undefined) throw unknownTopic(name, this.#topics.keys())
    return topic
  }

  /** How many partitions keys are shared out to. Those that are added stay unused, so that no key moves; a topic that is made anew is used whole. */
  usedPartitions(name: string): number {
    this.topic(name)
    return this.#usedPartitions.get(name)!
  }

  /** When what begins now must have come to an end. */
  deadlineMs(): number {
    return this.deadlineIn(this.settings.deliveryTimeoutMs)
  }

  /** The end of a wait that begins now; a time of day that is set meanwhile does not move it. */
  deadlineIn(ms: number): number {
    return monotonicMs(this.settings.clock) + ms
  }

  /** Until then; negative when it is over. */
  timeLeftMs(deadlineMs: number): number {
    return deadlineMs - monotonicMs(this.settings.clock)
  }

  has(topic: string): boolean {
    return this.#topics.has(topic)
  }

  /** Asks the brokers anew; callers at the same time share one request. */
  refresh(): Promise<void> {
    this.#refresh ??= this.#load().finally(() => {
      this.#refresh = undefined
    })
    return this.#refresh
  }

  /** Sends a request to one broker, at the newest version that both know. */
  async ask<A extends unknown[], R>(nodeId: number, lane: Lane, apis: readonly Api<A, R>[], ...args: A): Promise<R> {
    const connection = this.#connected(nodeId, lane) ?? (await this.#connect(nodeId, lane))
    const api = chooseApi(connection, apis, this.#knownVersions.get(connection) ?? (await this.#versionsOf(connection)))
    return api.async(connection, ...args)
  }

  /** Sends a request to any broker. */
  async askAny<A extends unknown[], R>(apis: readonly Api<A, R>[], ...args: A): Promise<R> {
    const errors: unknown[] = []
    const bootstrap = this.settings.brokers.map(parseAddress)
    for (const broker of shuffled([...this.#brokers.values(), ...bootstrap])) {
      if (this.#closed) throw closedError('the bus')
      try {
        const connection = await this.#pool('control').get(broker)
        return await chooseApi(connection, apis, await this.#versionsOf(connection)).async(connection, ...args)
      } catch (error) {
        if (codesOf(error).length > 0 || !isPassing(error)) throw error // an answer, or the same everywhere
        errors.push(error)
      }
    }
    throw new AggregateError(errors, `no broker of ${this.settings.brokers.join(', ')} answers`)
  }

  /** Sends a request to the broker that keeps a group or transactional id; finds it anew, with back-off, while errors pass. */
  async askCoordinator<A extends unknown[], R>(
    of: { readonly type: CoordinatorType; readonly id: string; readonly lane?: Lane },
    deadlineMs: number,
    apis: readonly Api<A, R>[],
    ...args: A
  ): Promise<R> {
    return this.retry(deadlineMs, `${of.type} ${of.id}`, async () => {
      try {
        return await this.ask(await this.#coordinator(of.type, of.id), of.lane ?? 'control', apis, ...args)
      } catch (error) {
        if (!hasCode(error, 'CONCURRENT_TRANSACTIONS', 'UNSTABLE_OFFSET_COMMIT')) this.#coordinators.delete(`${of.type} ${of.id}`)
        throw error
      }
    })
  }

  /** Repeats `work` while its errors pass, until `deadlineMs`: then it has failed, also where an attempt is still under way. */
  async retry<T>(deadlineMs: number, doing: string, work: () => Promise<T>): Promise<T> {
    return withDeadline(this.#repeat(deadlineMs, doing, work), Math.max(0, this.timeLeftMs(deadlineMs)), doing)
  }

  async #repeat<T>(deadlineMs: number, doing: string, work: () => Promise<T>): Promise<T> {
    const { clock } = this.settings
    for (let failures = 1; ; failures++) {
      try {
        return await work()
      } catch (error) {
        const backoffMs = backOffMs(BACK_OFF, failures)
        if (!isPassing(error) || this.#closed || backoffMs > this.timeLeftMs(deadlineMs)) throw toBusError(error, doing)
        await clock.sleep(backoffMs)
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    // A connection closes once what was written to it is gone: never, when the broker does not read.
    const closing = [...this.#pools.values()].flatMap(pool => [...pool].map(([, connection]) => connection.socket))
    await settledWithin(Promise.all([...this.#pools.values()].map(pool => pool.close())), CLOSE_PATIENCE_MS)
    for (const socket of closing) socket?.destroy()
  }

  async #connect(nodeId: number, lane: Lane): Promise<Connection> {
    if (this.#closed) throw closedError('the bus')
    const broker = this.#brokers.get(nodeId)
    if (broker === undefined) {
      await this.refresh()
      throw new Error(`broker ${nodeId} is not part of the cluster just now`)
    }
    return this.#pool(lane).get(broker)
  }

  /** A connection that is there already, as most often: what the pool does besides costs as much as the request. */
  #connected(nodeId: number, lane: Lane): Connection | undefined {
    const broker = this.#brokers.get(nodeId)
    const connection = broker === undefined || this.#closed ? undefined : this.#pools.get(lane)?.getEstablishedConnection(broker)
    return connection?.isConnected() === true ? connection : undefined
  }

  #pool(lane: Lane): ConnectionPool {
    const known = this.#pools.get(lane)
    if (known !== undefined) return known
    const { clientId, requestTimeoutMs, sasl, tls } = this.settings
    const pool = new ConnectionPool(clientId, {
      connectTimeout: requestTimeoutMs,
      // A join waits for the other members.
      requestTimeout: lane.startsWith('join ') ? rebalanceTimeoutMs(this.settings) + requestTimeoutMs : requestTimeoutMs,
      ...(sasl === undefined ? {} : { sasl: { ...sasl, mechanism: SASL_NAMES[sasl.mechanism] } }),
      ...(tls === undefined ? {} : { tls, tlsServerName: true }),
    })
    // A connection's second error would have no listener and end the process; requests see every one of them themselves.
    pool.on('connecting', ({ connection }) => void connection.on('error', () => undefined))
    this.#pools.set(lane, pool)
    return pool
  }

  #versionsOf(connection: Connection): Promise<ReadonlyMap<number, number>> {
    const known = this.#versions.get(connection)
    if (known !== undefined) return known
    const asked = API_VERSIONS.async(connection, 'logpipeline', '1').then(
      ({ apiKeys }) => new Map(apiKeys.map(({ apiKey, maxVersion }) => [apiKey, maxVersion])),
    )
    this.#versions.set(connection, asked)
    asked.then(
      versions => this.#knownVersions.set(connection, versions),
      () => this.#versions.delete(connection),
    )
    return asked
  }

  async #load(): Promise<void> {
    const names = this.settings.topics.map(({ name }) => name)
    const { brokers, topics } = await this.askAny(METADATA, names, false, false).catch(tolerateMissingTopics)
    this.#brokers = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]))
    // A broker may not have heard of a new topic yet: what another said still holds.
    for (const { name, topicId, partitions } of topics) {
      if (partitions.length === 0) continue
      const known = this.#topics.get(name!)
      const latest = latestOf(known, toMetadata(topicId, partitions))
      const count = latest.leaders.length
      const used = known?.id === topicId ? this.#usedPartitions.get(name!)! : count
      this.#usedPartitions.set(name!, Math.min(used, count))
      this.#topics.set(name!, latest)
    }
  }

  async #coordinator(type: CoordinatorType, id: string): Promise<number> {
    const key = `${type} ${id}`
    const known = this.#coordinators.get(key)
    if (known !== undefined) return known
    const { coordinators } = await this.askAny(FIND_COORDINATOR, COORDINATOR_TYPES[type], [id])
    const found = coordinators[0]!
    if (found.errorCode !== 0) throw kafkaError(codeName(found.errorCode), `finding the coordinator of ${key}`)
    this.#coordinators.set(key, found.nodeId)
    return found.nodeId
  }
}

/** The newest version of a request that both know. */
function chooseApi<A extends unknown[], R>(
  { host, port }: Connection,
  apis: readonly Api<A, R>[],
  versions: ReadonlyMap<number, number>,
): Api<A, R> {
  const newest = versions.get(apis[0]!.key) ?? -1
  const api = apis.find(({ version }) => version <= newest)
  if (api === undefined) throw new BusError('unavailable', `${host}:${port} is too old: Kafka 3.1 or newer is needed`)
  return api
}

/** How long a rebalance waits for its members; longer than any of them hands over. */
export const rebalanceTimeoutMs = ({ handoverMs, sessionTimeoutMs }: KafkaSettings) => Math.max(2 * handoverMs, sessionTimeoutMs) + 5_000

const SASL_NAMES = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const

/** Metadata of a topic that is not there, or has no leader, is an error of the library's; the rest of the answer is fine. */
function tolerateMissingTopics(error: unknown): Awaited<ReturnType<(typeof METADATA)[0]['async']>> {
  const response = (error as { response?: Awaited<ReturnType<(typeof METADATA)[0]['async']>> }).response
  if (response !== undefined && hasCode(error, 'UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE')) return response
  throw error
}

export function parseAddress(address: string): Broker {
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) }
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  const start = Math.floor(Math.random() * items.length)
  return [...items.slice(start), ...items.slice(0, start)]
}
