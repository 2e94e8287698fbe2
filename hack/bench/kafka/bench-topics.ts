/** Topics that one measurement has for itself on the real Kafka. */
import { randomUUID } from 'node:crypto'
import { Admin } from '@platformatic/kafka'
import { openKafkaBus } from '../../../dataplane/adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { TOPICS, type TopicConfig } from '../../../dataplane/contract/topics.ts'
import type { Bus } from '../../../dataplane/ports/bus.ts'
import { backendAddress } from '../../../dataplane/testing/real/address.ts'

type TopicShape = Pick<TopicConfig, 'partitions' | 'retentionMs'>

export interface BenchTopics {
  readonly raw: string
  readonly enriched: string
  readonly anomaly: string
  readonly deadLetter: string
  /** By these a role works on them. */
  readonly settings: Readonly<Record<'BUS_BROKERS' | 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC', string>>
}

export const kafkaBrokers = () => backendAddress('kafka').split(',')

/** Makes them, with the product's partitions. */
export async function createTopics(): Promise<BenchTopics> {
  const id = randomUUID().slice(0, 8)
  const [raw, enriched, anomaly, deadLetter] = ['raw', 'enriched', 'anomaly', 'dead'].map(kind => `bench-${id}-${kind}`) as [
    string,
    string,
    string,
    string,
  ]
  const topics: BenchTopics = {
    raw,
    enriched,
    anomaly,
    deadLetter,
    settings: {
      BUS_BROKERS: kafkaBrokers().join(),
      RAW_TOPIC: raw,
      ENRICHED_TOPIC: enriched,
      ANOMALY_TOPIC: anomaly,
      DEAD_LETTER_TOPIC: deadLetter,
    },
  }
  await (await openBenchBus(topics)).stop()
  return topics
}

/** A bus on them, with the client that the product uses unless told otherwise. */
export function openBenchBus({ raw, enriched, anomaly, deadLetter }: BenchTopics): Promise<Bus> {
  const topic = (name: string, { partitions, retentionMs }: TopicShape) => ({ name, partitions, retentionMs })
  return openKafkaBus({
    brokers: kafkaBrokers(),
    clock: systemClock,
    topics: [
      topic(raw, TOPICS.raw),
      topic(enriched, TOPICS.enriched),
      topic(anomaly, TOPICS.anomaly),
      topic(deadLetter, TOPICS.deadLetter),
    ],
  })
}

/** Frees their disk space. */
export async function deleteTopics({ raw, enriched, anomaly, deadLetter }: BenchTopics): Promise<void> {
  const admin = new Admin({ clientId: 'logpipeline-bench', bootstrapBrokers: kafkaBrokers() })
  await admin.deleteTopics({ topics: [raw, enriched, anomaly, deadLetter] })
  await admin.close()
}
