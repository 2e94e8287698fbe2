/** A broker's answer to a Fetch request; versions 13 to 16 share the form. */
import { type RecordBatch, readBatches } from '../batches/read-batch.ts'
import type { AbortedTransaction } from '../batches/read-committed.ts'
import type { Reader } from '../library.ts'

export interface FetchedPartition {
  readonly topicId: string
  readonly partition: number
  /** 0: none. */
  readonly errorCode: number
  readonly abortedTransactions: readonly AbortedTransaction[]
  readonly batches: readonly RecordBatch[]
}

export interface FetchAnswer {
  /** The error of the whole request; 0: none. */
  readonly errorCode: number
  readonly partitions: readonly FetchedPartition[]
}

/** The broker's high watermark, last stable offset and first offset. */
const OFFSETS_BYTES = 24

export function parseFetchAnswer(_correlationId: number, _apiKey: number, _apiVersion: number, reader: Reader): FetchAnswer {
  reader.skip(4) // how long the broker held the request back
  const errorCode = reader.readInt16()
  reader.skip(4) // session
  const partitions = reader.readArray(topic => {
    const topicId = topic.readUUID()
    return topic.readArray(partition => readPartition(topicId, partition), true, false)
  })
  reader.readTaggedFields()
  return { errorCode, partitions: partitions.flat() }
}

function readPartition(topicId: string, reader: Reader): FetchedPartition {
  const partition = reader.readInt32()
  const errorCode = reader.readInt16()
  reader.skip(OFFSETS_BYTES)
  const abortedTransactions = reader.readNullableArray(r => ({ producerId: r.readInt64(), firstOffset: Number(r.readInt64()) })) ?? []
  reader.skip(4) // a replica that is nearer
  const bytes = reader.readBytes()
  reader.readTaggedFields()
  return { topicId, partition, errorCode, abortedTransactions, batches: readBatches(bytes) }
}
