/** Objects made with `kafkajs`: clients with connections of their own, producers, sends. */
import kafkajs, {
  type KafkaConfig as ClientConfig,
  type Kafka,
  type Message,
  type Producer,
  type ProducerConfig,
  type RetryOptions,
  type SASLOptions,
} from 'kafkajs'
import type { BusRecord } from '../../../ports/bus.ts'
import { settledWithin } from '../kafka/both-clients/deadline.ts'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import { PartitionGone } from '../kafka/both-clients/kafka-errors.ts'
import type { PartitionBatches } from '../kafka/both-clients/send-queue.ts'
import { createConnections } from './connections.ts'
import { repairLibrary } from './library-repairs.ts'

/** The library's own attempts; each is bounded by the request's time-out, all of them by the caller's. */
export const RETRY: RetryOptions = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8 }

/** For one producer, consumer or admin: what is left open when it ends is its own. */
export interface KafkajsClient {
  readonly kafka: Kafka
  /** The problem of the last connection that failed. */
  lastProblem(): string | undefined
  /** Gives it the time of one request to `goodbye`, then closes what is open; it connects to nothing afterwards. */
  close(goodbye?: () => Promise<unknown>): Promise<void>
}

type ClientSettings = Pick<KafkaSettings, 'brokers' | 'clientId' | 'requestTimeoutMs' | 'sasl' | 'tls'>

/** The library's log says in full what its errors say again; the bus logs those. */
export function createKafkajsClient({ brokers, clientId, requestTimeoutMs, sasl, tls }: ClientSettings): KafkajsClient {
  repairLibrary()
  const connections = createConnections(brokers)
  const config: ClientConfig = {
    brokers: connections.brokers,
    clientId,
    connectionTimeout: requestTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: kafkajs.logLevel.NOTHING,
    socketFactory: connections.open,
  }
  if (sasl !== undefined) config.sasl = { ...sasl } as SASLOptions
  if (tls !== undefined) config.ssl = { ...tls }
  return {
    kafka: new kafkajs.Kafka(config),
    lastProblem: connections.lastProblem,
    async close(goodbye) {
      if (goodbye !== undefined) await settledWithin(goodbye(), requestTimeoutMs)
      connections.close()
    },
  }
}

/** A partition that had no leader when `kafkajs` last asked is read by nobody until it asks again; its own default is five minutes. */
export const METADATA_MAX_AGE_MS = 5_000

/** How every producer writes: the caller has chosen the partition. */
const PRODUCER = {
  idempotent: true,
  allowAutoTopicCreation: false,
  metadataMaxAge: METADATA_MAX_AGE_MS,
  // One at a time: what is sent again must not be overtaken.
  maxInFlightRequests: 1,
  createPartitioner: () => (args: { readonly message: Message }) => args.message.partition ?? 0,
} as const

export interface OpenProducer {
  readonly producer: Producer
  /** Connects it the first time. */
  connected(): Promise<void>
  /** At once: what is under way, and what it would try again, ends with an error. */
  close(): Promise<void>
}

export function createProducer(settings: KafkaSettings, config?: ProducerConfig): OpenProducer {
  const { kafka, close } = createKafkajsClient(settings)
  const producer = kafka.producer({ ...PRODUCER, ...config, retry: RETRY })
  let connecting: Promise<void> | undefined
  return {
    producer,
    connected: () => (connecting ??= producer.connect()),
    close: () => close(),
  }
}

/**
 * Writes the batches; rejects with `PartitionGone` for one to a partition that the topic does not have, for which `kafkajs` sends nothing, and answers
 * as if it had. Each goes in a send of its own: within one send `kafkajs` takes a partition for written whose leader moves, before the
 * attempt is repeated, to a broker that has already answered for others, and acknowledges records that it never sent.
 */
export async function sendBatches(to: Pick<Producer, 'send'>, topic: string, batches: PartitionBatches): Promise<void> {
  const sends = [...batches].map(async ([partition, records]) => {
    const written = await to.send({
      topic,
      messages: records.map(record => toMessage(record, partition)),
      acks: -1,
      compression: kafkajs.CompressionTypes.GZIP,
    })
    if (!written.some(answer => answer.partition === partition)) throw new PartitionGone(topic, partition)
  })
  const failed = (await Promise.allSettled(sends)).find(outcome => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function toMessage({ key, value, headers }: BusRecord, partition: number): Message {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return { key, value: bytes, partition, ...(headers === undefined ? {} : { headers: { ...headers } }) }
}
