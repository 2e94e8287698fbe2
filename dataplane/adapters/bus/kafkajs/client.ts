import kafkajs, {
  type KafkaConfig as ClientConfig,
  type Kafka,
  type Message,
  type Producer,
  type RetryOptions,
  type SASLOptions,
} from 'kafkajs'
import type { BusRecord } from '../../../ports/bus.ts'
import type { KafkaSettings } from '../kafka/kafka-config.ts'
import type { PartitionBatches } from '../kafka/send-queue.ts'
import { registerCodecs } from './codecs.ts'

/** Of all that the library tries itself; each attempt is bounded by the request's time-out, all of them by the caller's. */
export const RETRY: RetryOptions = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8 }

/** The library's log says in full what its errors say again; the bus logs those. */
export function createClient({ brokers, clientId, requestTimeoutMs, sasl, tls }: KafkaSettings): Kafka {
  registerCodecs()
  const config: ClientConfig = {
    brokers: [...brokers],
    clientId,
    connectionTimeout: requestTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: kafkajs.logLevel.NOTHING,
  }
  if (sasl !== undefined) config.sasl = { ...sasl } as SASLOptions
  if (tls !== undefined) config.ssl = { ...tls }
  return new kafkajs.Kafka(config)
}

/** A partition that had no leader when `kafkajs` last asked is read by nobody until it asks again; its own default is five minutes. */
export const METADATA_MAX_AGE_MS = 5_000

/** How every producer writes: whoever sends has chosen the partition. */
export const PRODUCER = {
  idempotent: true,
  allowAutoTopicCreation: false,
  metadataMaxAge: METADATA_MAX_AGE_MS,
  // One at a time: what is sent again must not be overtaken.
  maxInFlightRequests: 1,
  createPartitioner: () => (args: { readonly message: Message }) => args.message.partition ?? 0,
} as const

/**
 * Writes the batches, each in a send of its own: within one send `kafkajs` takes a partition for written whose leader moves, before the
 * attempt is repeated, to a broker that has already answered for others, and acknowledges records that it never sent.
 */
export async function sendBatches(to: Pick<Producer, 'send'>, topic: string, batches: PartitionBatches): Promise<void> {
  const sends = [...batches].map(([partition, records]) =>
    to.send({
      topic,
      messages: records.map(record => toMessage(record, partition)),
      acks: -1,
      compression: kafkajs.CompressionTypes.GZIP,
    }),
  )
  const failed = (await Promise.allSettled(sends)).find(outcome => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function toMessage({ key, value, headers }: BusRecord, partition: number): Message {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return { key, value: bytes, partition, ...(headers === undefined ? {} : { headers: { ...headers } }) }
}
