/** Which compression the brokers take, by topic. */
import { type Compression, compressionFor, nextCompression } from '../batches/compression.ts'
import type { KafkaSettings } from '../both-clients/kafka-config.ts'
import type { TopicLayout } from '../both-clients/send-queue.ts'

export class TopicCompressions {
  readonly #log: KafkaSettings['log']
  readonly #byTopic: Map<string, Compression>

  constructor(log: KafkaSettings['log'], layouts: ReadonlyMap<string, TopicLayout>) {
    this.#log = log
    this.#byTopic = new Map([...layouts].map(([topic, { compressionType }]) => [topic, compressionFor(compressionType)]))
  }

  of(topic: string): Compression {
    return this.#byTopic.get(topic) ?? 'zstd'
  }

  /** Kafka has taken batches that were written so, after it had refused those before. */
  learn(topic: string, compression: Compression, refusal: string): void {
    if (compression === this.of(topic)) return
    this.#log.warn({ topic, refused: this.of(topic), problem: refusal, compression }, 'Kafka refuses a compression, another one is used')
    this.#byTopic.set(topic, compression)
  }
}

/**
 * The compression to try instead; undefined when the code is no refusal of this one. A broker that cannot load the native code of zstd says that
 * an unexpected error has occurred.
 */
export function compressionInstead(code: string, refused: Compression): Compression | undefined {
  const isRefusal = code === 'UNSUPPORTED_COMPRESSION_TYPE' || (code === 'UNKNOWN_SERVER_ERROR' && refused === 'zstd')
  return isRefusal ? nextCompression(refused) : undefined
}
