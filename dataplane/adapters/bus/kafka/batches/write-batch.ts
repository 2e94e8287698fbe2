/** Record batches of format 2 as they go to a broker, written without the library. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { BusRecord } from '../../../../ports/bus.ts'
import { sizeOf } from '../both-clients/record-size.ts'
import { crc32c, Writer } from '../library.ts'
import { type Compression, packRecords } from './compression.ts'
import { HEADER_BYTES, TRANSACTIONAL } from './read-batch.ts'

/** The producer that a batch names. */
export interface BatchIdentity {
  readonly producerId: bigint
  readonly producerEpoch: number
  /** Number of the first record, counted per producer and partition: a batch that comes twice is written once. */
  readonly baseSequence: number
  readonly isTransactional: boolean
}

/** Where the part begins that the checksum covers. */
const CHECKED_FROM = 21
const WORK_AREA_STEP_BYTES = 128 * 1024

/** A record batch of format 2. */
export function encodeBatch(records: readonly BusRecord[], identity: BatchIdentity, nowMs: number, compression: Compression): Buffer {
  const plain = encodeRecords(records)
  const { bitmask, bytes: body } = packRecords(plain, compression)
  const batch = Buffer.allocUnsafe(HEADER_BYTES + body.length)
  writeInt64(batch, 0, 0)
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt32BE(0, 12)
  batch.writeInt8(2, 16)
  batch.writeInt16BE(bitmask | (identity.isTransactional ? TRANSACTIONAL : 0), CHECKED_FROM)
  batch.writeInt32BE(records.length - 1, 23)
  writeInt64(batch, 27, nowMs)
  writeInt64(batch, 35, nowMs)
  batch.writeBigInt64BE(identity.producerId, 43)
  batch.writeInt16BE(identity.producerEpoch, 51)
  batch.writeInt32BE(identity.baseSequence, 53)
  batch.writeInt32BE(records.length, 57)
  batch.set(body, HEADER_BYTES)
  if (body !== plain) releaseBytes(body) // a part of memory is left alone
  batch.writeUInt32BE(crc32c(lent(batch.subarray(CHECKED_FROM))), 17)
  return batch
}

/** The library copies a buffer before it goes over it, but not the one of a writer. */
const lent = (bytes: Buffer) => Writer.create().append(bytes).dynamicBuffer

/** Writes a number that is not negative, without a BigInt for each. */
function writeInt64(out: Buffer, at: number, value: number): void {
  out.writeInt32BE(Math.floor(value / 2 ** 32), at)
  out.writeUInt32BE(value % 2 ** 32, at + 4)
}

/** Batches are put together here before they are compressed, one after the other: new memory for each brings on full collections (measured). */
let workArea = Buffer.alloc(0)

/** Valid until the next call. */
function encodeRecords(records: readonly BusRecord[]): Buffer {
  let bound = 0
  for (const record of records) bound += sizeOf(record)
  if (workArea.length < bound) workArea = Buffer.allocUnsafeSlow(Math.ceil(bound / WORK_AREA_STEP_BYTES) * WORK_AREA_STEP_BYTES)
  const out = workArea
  let end = 0
  for (let i = 0; i < records.length; i++) end = writeRecord(out, end, records[i]!, i)
  return out.subarray(0, end)
}

function writeRecord(out: Buffer, start: number, { key, value, headers }: BusRecord, offsetDelta: number): number {
  const keyBytes = Buffer.byteLength(key)
  const names = headers === undefined ? [] : Object.keys(headers)
  let length = 2 + varintBytes(offsetDelta) + varintBytes(keyBytes) + keyBytes + varintBytes(value.length) + value.length
  length += varintBytes(names.length)
  for (const name of names) length += textBytes(name) + textBytes(headers![name]!)
  let at = writeVarint(out, start, length)
  out[at++] = 0 // attributes: none
  out[at++] = 0 // time: that of the batch
  at = writeVarint(out, at, offsetDelta)
  at = writeVarint(out, at, keyBytes)
  at += out.write(key, at)
  at = writeVarint(out, at, value.length)
  out.set(value, at)
  at = writeVarint(out, at + value.length, names.length)
  for (const name of names) at = writeText(out, writeText(out, at, name), headers![name]!)
  return at
}

function textBytes(text: string): number {
  const bytes = Buffer.byteLength(text)
  return varintBytes(bytes) + bytes
}

function writeText(out: Buffer, at: number, text: string): number {
  const start = writeVarint(out, at, Buffer.byteLength(text))
  return start + out.write(text, start)
}

/** Zigzag; lengths and counts are never negative and below 2^30. */
function varintBytes(value: number): number {
  const zigzag = value << 1
  return zigzag < 0x80 ? 1 : zigzag < 0x4000 ? 2 : zigzag < 0x200000 ? 3 : zigzag < 0x10000000 ? 4 : 5
}

function writeVarint(out: Buffer, start: number, value: number): number {
  let at = start
  let rest = (value << 1) >>> 0
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  out[at++] = rest
  return at
}
