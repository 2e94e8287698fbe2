/** The consumer groups of the product (Spec: Components, message bus): who reads which topic. */
import { BRIDGE_THREADS, type BridgeThread } from './bridge-threads.ts'
import { TOPICS } from './topics.ts'

type TopicKey = keyof typeof TOPICS

/** The topics that each thread of the bridge reads, by their keys in `TOPICS`. Only `logpipeline dlq` reads the dead-letter queue, and keeps no offsets. */
const INPUTS: Readonly<Record<BridgeThread, readonly TopicKey[]>> = {
  etl: ['raw'],
  anomaly: ['enriched'],
  indexer: ['enriched', 'anomaly'],
  lifecycle: ['anomaly'],
}

const DEFAULT_NAMES: ReadonlySet<string> = new Set(Object.values(TOPICS).map(({ name }) => name))

/**
 * The group of a bridge's thread, and of the stream job in its place. Topics that have names of their own are part of its name: installations
 * that share a Kafka must not be members of the same groups.
 */
export function consumerGroup(thread: BridgeThread, inputs: readonly string[]): string {
  return ['logpipeline-bridge', thread, ...inputs.filter(name => !DEFAULT_NAMES.has(name))].join('-')
}

/** The groups of these threads that read a topic; each group reads every record once. `names`: the names of the topics. */
export function readersOf(
  topic: TopicKey,
  names: Readonly<Record<TopicKey, string>>,
  threads: readonly BridgeThread[] = BRIDGE_THREADS,
): readonly string[] {
  const readers = threads.filter(thread => INPUTS[thread].includes(topic))
  return readers.map(thread =>
    consumerGroup(
      thread,
      INPUTS[thread].map(key => names[key]),
    ),
  )
}
