/**
 * The messages in a broker's answer to a Fetch request, read by the reader of `kafka` in place of the library's. The library unpacks a batch to
 * any size, asks for nothing behind a batch that it cannot read, and takes the square of the time for the headers of a record.
 */
import type { ConsumedRecord } from '../../../ports/bus.ts'
import { MAX_PLAIN_BYTES } from '../kafka/batches/compression.ts'
import { isControl, isTransactional, MAX_BATCH_PARTS, type RecordBatch, readBatches, readRecords } from '../kafka/batches/read-batch.ts'

/** The library's reader of an answer, as far as it is needed. */
export interface AnswerReader {
  readInt32(): number
  canReadBytes(length: number): boolean
  readBytes(length: number): Buffer
}

/** A message as the library hands it on, with the record that it is. */
export interface FetchedMessage {
  readonly record: ConsumedRecord
  readonly offset: string
  readonly timestamp: string
  /** Set for the markers of transactions alone: the library looks for those that end an aborted one. */
  readonly key: Buffer | null
  readonly value: Uint8Array
  readonly isControlRecord: boolean
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean }
}

/** Sums of the batches of an answer that were unpacked so far. */
const unpacked = new WeakMap<AnswerReader, { readonly bytes: number; readonly parts: number }>()

/**
 * The messages of one partition. Once more than a batch may hold has come out of an answer, the batches behind are left: they are asked for again.
 * Topic and partition of the records are not known here.
 */
export function readFetchedMessages(answer: AnswerReader): readonly FetchedMessage[] {
  const length = answer.readInt32()
  if (length <= 0 || !answer.canReadBytes(length)) return []
  const messages: FetchedMessage[] = []
  for (const batch of readBatches(answer.readBytes(length))) {
    const before = unpacked.get(answer) ?? NOTHING
    if (before.bytes > MAX_PLAIN_BYTES || before.parts > MAX_BATCH_PARTS) break
    const records: ConsumedRecord[] = []
    const { plainBytes, parts } = readRecords(batch, NOWHERE, 0, records)
    unpacked.set(answer, { bytes: before.bytes + plainBytes, parts: before.parts + parts })
    for (const record of records) messages.push(toMessage(record, batch))
  }
  return messages
}

const NOTHING = { bytes: 0, parts: 0 }
const NOWHERE = { topic: '', partition: 0 }

function toMessage(record: ConsumedRecord, batch: RecordBatch): FetchedMessage {
  const isControlRecord = isControl(batch)
  return {
    record,
    offset: String(record.offset),
    timestamp: String(record.timestampMs),
    key: isControlRecord ? Buffer.from(record.key) : null,
    value: record.value,
    isControlRecord,
    batchContext: { producerId: String(batch.producerId), inTransaction: isTransactional(batch) },
  }
}
