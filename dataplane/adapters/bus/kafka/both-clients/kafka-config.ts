/** How to reach a Kafka, and the times and sizes that bound what is asked of it. */
import type { SaslMechanism } from '../../../../contract/env.ts'
import type { TopicConfig, TopicMode } from '../../../../contract/topics.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { type BusLog, silentLog } from '../../bus-log.ts'

export interface KafkaSasl {
  readonly mechanism: SaslMechanism
  readonly username: string
  readonly password: string
}

/** All PEM texts. Without `ca` the authorities that Node knows are trusted. */
export interface KafkaTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** How to reach a Kafka, and what this product wants of it. Both clients take it. */
export interface KafkaConfig {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[]
  readonly topics: readonly TopicConfig[]
  /** Default `create`. */
  readonly topicMode?: TopicMode
  readonly clock: Clock
  readonly log?: BusLog
  /** Shown in the brokers' logs. Default `logpipeline`. */
  readonly clientId?: string
  readonly sasl?: KafkaSasl
  /** Absent: no TLS. */
  readonly tls?: KafkaTls
  /** Replicas of topics that are created. Default: the brokers' `default.replication.factor`. */
  readonly replicationFactor?: number
  /** First part of the transactional ids. Only one process at a time may use one: the later fences the earlier. Default: random, nobody is fenced. */
  readonly transactionalId?: string
  /** Bytes that `send` may have under way; beyond, `send` fails as `overloaded`. Default 64 MiB. */
  readonly maxQueuedBytes?: number
  /**
   * Bytes that a subscription has read ahead, in all its partitions: unpacked of batches that are being handed out, of others as they came from the
   * broker where the client leaves them packed. With as many nothing more is asked for, and no further batch is unpacked. Exceeded by the answers
   * under way, two of each broker, and by one batch. Default 8 MiB.
   */
  readonly maxPrefetchBytes?: number
  /** From `send` to its failure as `unavailable`, with all attempts. Default 9 s. */
  readonly deliveryTimeoutMs?: number
  /** One request to one broker. Default 5 s. */
  readonly requestTimeoutMs?: number
  /** A member of a group that does not show up for this long is out: as long a process that was killed holds its partitions up. Default 12 s. */
  readonly sessionTimeoutMs?: number
  /** Default 1 s. */
  readonly heartbeatMs?: number
  /** How long partitions that move to another member wait for what was polled from them to be committed. Default 5 s. */
  readonly handoverMs?: number
  /** An open transaction of a process that died holds up readers for this long. Default 60 s. */
  readonly transactionTimeoutMs?: number
  /** How long to try to reach the brokers at the start. Default 30 s. */
  readonly startTimeoutMs?: number
  /** How long to try to reach a first broker, as a part of `startTimeoutMs`. Default: all of that time. */
  readonly reachTimeoutMs?: number
  /** How long to try to join a group. Default: as at the start. */
  readonly joinTimeoutMs?: number
}

export type KafkaSettings = Required<Omit<KafkaConfig, 'sasl' | 'tls' | 'replicationFactor' | 'transactionalId'>> &
  Pick<KafkaConfig, 'sasl' | 'tls' | 'replicationFactor' | 'transactionalId'>

const MIB = 1 << 20

export function withDefaults(config: KafkaConfig): KafkaSettings {
  return {
    log: silentLog,
    topicMode: 'create',
    clientId: 'logpipeline',
    maxQueuedBytes: 64 * MIB,
    maxPrefetchBytes: 8 * MIB,
    deliveryTimeoutMs: 9_000,
    requestTimeoutMs: 5_000,
    sessionTimeoutMs: 12_000,
    heartbeatMs: 1_000,
    handoverMs: 5_000,
    transactionTimeoutMs: 60_000,
    startTimeoutMs: 30_000,
    reachTimeoutMs: config.startTimeoutMs ?? 30_000,
    joinTimeoutMs: config.startTimeoutMs ?? 30_000,
    ...config,
  }
}
