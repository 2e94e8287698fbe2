/** Reads a topic of OTLP JSON from its beginning to its end with `kafkajs`, a client that neither collector writes with. */
import { randomUUID } from 'node:crypto'
import type { EachBatchPayload, Kafka } from 'kafkajs'
import { createClient } from '../../../dataplane/adapters/bus/kafkajs/client.ts'
import { kafkaBrokers } from './bench-topics.ts'

interface LogsRequest {
  readonly resourceLogs?: readonly {
    readonly scopeLogs?: readonly { readonly logRecords?: readonly { readonly timeUnixNano: string }[] }[]
  }[]
}

/** Calls `use` with the time of each record, nanoseconds since 1970, as often as the topic holds it. */
export async function readBack(topic: string, use: (timeUnixNano: string) => void): Promise<void> {
  const client = createClient({ brokers: kafkaBrokers(), clientId: 'logpipeline-bench', requestTimeoutMs: 30_000 })
  const left = await lastOffsets(client.kafka, topic)
  const consumer = client.kafka.consumer({ groupId: `bench-${randomUUID()}` })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      if (left.size === 0) resolve()
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error))
      const eachBatch = async ({ batch }: EachBatchPayload): Promise<void> => {
        for (const { value } of batch.messages) for (const time of timesOf(value)) use(time)
        const last = left.get(batch.partition)
        if (last !== undefined && BigInt(batch.lastOffset()) >= last) left.delete(batch.partition)
        if (left.size === 0) resolve()
      }
      consumer.run({ autoCommit: false, eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
    await client.close()
  }
}

/** Partition → its last offset; without partitions that hold nothing. */
async function lastOffsets(client: Kafka, topic: string): Promise<Map<number, bigint>> {
  const admin = client.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  const filled = offsets.filter(({ low, high }) => low !== high)
  return new Map(filled.map(({ partition, high }) => [partition, BigInt(high) - 1n]))
}

function timesOf(message: Buffer | null): readonly string[] {
  const { resourceLogs = [] } = JSON.parse(message?.toString() ?? '{}') as LogsRequest
  const records = resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords = [] }) => logRecords))
  return records.map(({ timeUnixNano }) => timeUnixNano)
}
