import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createRecordsBatch, Reader, readRecordsBatch } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { ConsumedRecord } from '../../../../ports/bus.ts'
import { readBatches, readRecords } from './read-batch.ts'
import { encodeBatch } from './write-batch.ts'

const FIRST_MS = 1_700_000_000_000
const LOG_APPEND_TIME = 0x08

const headers = (entries: Readonly<Record<string, string>>) =>
  new Map(Object.entries(entries).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]))

/** A batch by the library's own producer, of records with everything that fields can hold; `attributes` are added to its own. */
function libraryBatch({ compression = 'none', firstOffset = 0, attributes = 0 } = {}): Buffer {
  const values = [Buffer.from('a'), Buffer.alloc(70_000, 'long '), Buffer.alloc(0), undefined, Buffer.from('é'.repeat(100))]
  const messages = values.map((value, i) => ({
    topic: 'logs',
    key: i === 2 ? undefined : Buffer.from(`tenant/service ${i}`),
    value,
    headers: headers(i === 1 ? {} : { layout: '1;2;3', [`größe ${i}`]: 'x'.repeat(i * 60) }),
    timestamp: BigInt(FIRST_MS + [0, 5, -3, 4_000_000_000, 70][i]!),
  }))
  const bytes = Buffer.from(createRecordsBatch(messages as never, { compression: compression as 'none' }).buffer)
  bytes.writeBigInt64BE(BigInt(firstOffset), 0)
  bytes.writeInt16BE(bytes.readInt16BE(21) | attributes, 21)
  return bytes
}

function readOwn(bytes: Buffer, fromOffset = 0): ConsumedRecord[] {
  const records: ConsumedRecord[] = []
  for (const batch of readBatches(bytes)) readRecords(batch, { topic: 'logs', partition: 3 }, fromOffset, records)
  return records
}

/** The library's reader as the oracle. */
function readByLibrary(bytes: Buffer): ConsumedRecord[] {
  const { firstOffset, firstTimestamp, records } = readRecordsBatch(Reader.from(bytes))
  return records.map(({ key, value, headers: list, offsetDelta, timestampDelta }) => ({
    topic: 'logs',
    partition: 3,
    offset: Number(firstOffset) + offsetDelta,
    timestampMs: Number(firstTimestamp + timestampDelta),
    key: key?.toString() ?? '',
    value: value ?? Buffer.alloc(0),
    headers: Object.fromEntries([...list].map(([name, text]) => [String(name), String(text)])),
  }))
}

describe('record batches', () => {
  for (const compression of ['none', 'lz4', 'gzip', 'snappy', 'zstd'])
    it(`are read as the library reads them: ${compression}`, () => {
      const bytes = libraryBatch({ compression, firstOffset: 5_000_000_000 })
      const own = readOwn(bytes)
      expect(own).to.have.length(5)
      expect(own).to.deep.equal(readByLibrary(bytes))
    })

  it('what this adapter writes is read back', () => {
    const written = Array.from({ length: 300 }, (_, i) => ({ key: `k${i}`, value: Buffer.from(`value ${i}`), headers: { n: String(i) } }))
    const identity = { producerId: 1n, producerEpoch: 0, baseSequence: 0, isTransactional: true }
    const read = readOwn(encodeBatch(written, identity, FIRST_MS, 'zstd'))
    expect(read.map(({ key, value, headers: of }) => ({ key, value, headers: of }))).to.deep.equal(written)
    expect(new Set(read.map(({ timestampMs }) => timestampMs))).to.deep.equal(new Set([FIRST_MS]))
  })

  it('keys and names of headers are those of each record, whether or not they are as before', () => {
    const keys = ['a/one', 'a/one', 'a/two', 'a/öne', 'a/one', '', 'a/one', 'a/on', 'a/one/']
    const written = keys.map((key, i) => ({ key, value: Buffer.from(key), headers: { [i % 3 === 0 ? 'layout' : 'layoux']: key } }))
    const identity = { producerId: 1n, producerEpoch: 0, baseSequence: 0, isTransactional: false }
    const read = readOwn(encodeBatch(written, identity, FIRST_MS, 'none'))
    expect(read.map(({ key, value, headers: of }) => ({ key, value, headers: of }))).to.deep.equal(written)
  })

  it('compressed with zstd, in memory of their own that can be given back whole, by whichever client', () => {
    const value = Buffer.alloc(50_000, 'a line of log ')
    const own = encodeBatch([{ key: 'k', value }], { producerId: 1n, producerEpoch: 0, baseSequence: 0, isTransactional: false }, 0, 'zstd')
    const memoryOf = (bytes: Buffer) => {
      const records: ConsumedRecord[] = []
      const memory = readRecords(readBatches(bytes)[0]!, { topic: 'logs', partition: 3 }, 0, records)
      expect(records.map(record => Buffer.compare(record.value, value))).to.deep.equal([0])
      expect(records[0]!.value.buffer).to.equal(memory.buffer)
      return memory
    }
    const memory = memoryOf(own)
    releaseBytes(memory)
    expect(memory.length).to.equal(0)

    const plain = zstdDecompressSync(own.subarray(61))
    const foreign = Buffer.concat([own.subarray(0, 61), zstdCompressSync(plain)])
    foreign.writeInt32BE(foreign.length - 12, 8)
    memoryOf(foreign)
    const lying = Buffer.from(own)
    lying[61 + 4 + 1]! ^= 1
    expect(() => readOwn(lying)).to.throw()
  })

  it("are dated by the broker's clock where the topic says so", () => {
    const bytes = libraryBatch({ attributes: LOG_APPEND_TIME })
    bytes.writeBigInt64BE(BigInt(FIRST_MS + 9), 35)
    expect(readOwn(bytes).map(({ timestampMs }) => timestampMs - FIRST_MS)).to.deep.equal([9, 9, 9, 9, 9])
  })

  it('records before the position are left out: a broker sends batches whole', () => {
    const bytes = Buffer.concat([libraryBatch({ firstOffset: 10 }), libraryBatch({ firstOffset: 15 })])
    expect(readOwn(bytes, 13).map(({ offset }) => offset)).to.deep.equal([13, 14, 15, 16, 17, 18, 19])
  })

  it('the last batch may be cut off: it comes again', () => {
    const whole = libraryBatch()
    for (const cut of [0, 1, 11, 12, 60, whole.length - 1])
      expect(readBatches(Buffer.concat([whole, whole.subarray(0, cut)])), `cut at ${cut}`).to.have.length(1)
  })

  it('refuses other formats, unknown compression, and records that run out of their batch', () => {
    const old = libraryBatch()
    old[16] = 1
    expect(() => readOwn(old)).to.throw('format 1; expected 2')
    expect(() => readOwn(libraryBatch({ attributes: 7 }))).to.throw('unknown compression 7')
    const short = libraryBatch()
    short.writeInt32BE(6, 57)
    expect(() => readOwn(short)).to.throw('ends within a record')
    const long = libraryBatch()
    long.fill(0xff, 61)
    expect(() => readOwn(long)).to.throw('ends within a record')
  })
})
