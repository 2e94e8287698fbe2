import { constants, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { compressionsAlgorithms, createRecordsBatch, Reader, readRecordsBatch } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { contentBytes } from '../../../../compression/zstd.ts'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { ConsumedRecord } from '../../../../ports/bus.ts'
import { MAX_PLAIN_BYTES } from './compression.ts'
import { BatchReader, HEADER_BYTES, MAX_BATCH_PARTS, MAX_PORTION_PARTS, readBatches, readRecords } from './read-batch.ts'
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
      const { memory } = readRecords(readBatches(bytes)[0]!, { topic: 'logs', partition: 3 }, 0, records)
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
    expect(readOwn(lying)[0]!.unreadable).to.match(/zstd|data/i)
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

  describe('that cannot be read become one record that says why, with the bytes of the batch', () => {
    const problemOf = (bytes: Buffer) => {
      const records = readOwn(bytes)
      const last = records.at(-1)!
      const [batch] = readBatches(bytes)
      expect(records.slice(0, -1).every(({ unreadable }) => unreadable === undefined)).to.equal(true)
      expect(last).to.include({ topic: 'logs', partition: 3, key: '', offset: batch!.lastOffset })
      expect(Buffer.compare(last.value, batch!.body)).to.equal(0)
      return { problem: last.unreadable, before: records.length - 1 }
    }
    const changed = (change: (bytes: Buffer) => void, made = libraryBatch({ firstOffset: 7 })) => {
      change(made)
      return problemOf(made)
    }

    it('an older format', () => {
      const { problem } = changed(bytes => bytes.writeInt8(1, 16))
      expect(problem).to.equal('Kafka record batch at offset 7: its format is 1; expected 2')
    })

    it('a compression that is none', () => {
      expect(problemOf(libraryBatch({ attributes: 7 })).problem).to.contain("the compression 7 is none of Kafka's")
    })

    it('more records than it holds: those that it holds are read', () => {
      expect(changed(bytes => bytes.writeInt32BE(6, 57))).to.deep.equal({
        problem: 'Kafka record batch at offset 7: it ends within a record',
        before: 5,
      })
    })

    for (const count of [-1, MAX_BATCH_PARTS + 1, 0x7fffffff])
      it(`${count} records`, () => {
        expect(changed(bytes => bytes.writeInt32BE(count, 57)).problem).to.contain(
          `it has ${count} records; at most ${MAX_BATCH_PARTS} are read`,
        )
      })

    it('numbers without an end, and fields that make no sense', () => {
      expect(changed(bytes => bytes.fill(0xff, 61)).problem).to.contain('a number of it is longer than ten bytes')
      expect(changed(bytes => bytes.fill(0x7f, 61)).problem).to.contain('record 1 has the offset')
    })

    it('records at the offset of others, or behind the last', () => {
      const { problem, before } = changed(bytes => bytes.writeInt32BE(2, 23))
      expect(problem).to.contain('record 4 has the offset 10; expected 10 to 9')
      expect(before).to.equal(3)
    })

    it('headers without end', () => {
      const many = new Map(Array.from({ length: MAX_BATCH_PARTS }, (_, i) => [Buffer.from(i.toString(36)), Buffer.alloc(0)]))
      const message = { topic: 'logs', key: Buffer.from('k'), value: Buffer.from('v'), headers: many, timestamp: 0n }
      const bytes = Buffer.from(createRecordsBatch([message] as never, { compression: 'zstd' }).buffer)
      expect(problemOf(bytes).problem).to.contain(`more than ${MAX_BATCH_PARTS} records and headers`)
    })

    const bomb = Buffer.alloc(MAX_PLAIN_BYTES + 1)
    const BOMBS: Readonly<Record<string, () => readonly [bitmask: number, packed: Buffer]>> = {
      gzip: () => [1, gzipSync(bomb)],
      snappy: () => [2, compressionsAlgorithms.snappy.compressSync(bomb)],
      lz4: () => [3, compressionsAlgorithms.lz4.compressSync(bomb)],
      zstd: () => [4, zstdCompressSync(bomb)],
      'zstd without a size': () => [4, zstdWithoutSize(bomb)],
    }
    for (const [name, pack] of Object.entries(BOMBS))
      it(`more than comes out of a batch: ${name}`, () => {
        const [bitmask, packed] = pack()
        const bytes = Buffer.concat([libraryBatch().subarray(0, 61), packed])
        bytes.writeInt32BE(bytes.length - 12, 8)
        bytes.writeInt16BE(bitmask, 21)
        expect(problemOf(bytes).problem).to.contain(`more than ${MAX_PLAIN_BYTES} bytes come out`)
      })
  })

  describe('as large as a broker takes them by default', () => {
    /** Kafka's default `message.max.bytes`. */
    const MAX_BATCH_BYTES = 1_048_588
    const varint = (value: number): Buffer => {
      const bytes: number[] = []
      let zigzag = 2 * value
      for (; zigzag >= 0x80; zigzag = Math.floor(zigzag / 0x80)) bytes.push((zigzag % 0x80) | 0x80)
      return Buffer.from([...bytes, zigzag])
    }
    /** A record without a key, with an empty value. */
    const emptyRecord = (offset: number, headers = varint(0)): Buffer => {
      const fields = Buffer.concat([Buffer.from([0, 0]), varint(offset), Buffer.from([1, 0]), headers])
      return Buffer.concat([varint(fields.length), fields])
    }
    const batchOf = (records: Buffer, count: number): Buffer => {
      const bytes = Buffer.concat([libraryBatch().subarray(0, HEADER_BYTES), records])
      bytes.writeInt32BE(bytes.length - 12, 8)
      bytes.writeInt32BE(count - 1, 23)
      bytes.writeInt32BE(count, 57)
      return bytes
    }
    const fullOfEmpty = () => {
      const records: Buffer[] = []
      for (let left = MAX_BATCH_BYTES - HEADER_BYTES; ; ) {
        const record = emptyRecord(records.length)
        left -= record.length
        if (left < 0) break
        records.push(record)
      }
      return { bytes: batchOf(Buffer.concat(records), records.length), count: records.length }
    }

    it('all records are read where each is empty', () => {
      const { bytes, count } = fullOfEmpty()
      expect([bytes.length <= MAX_BATCH_BYTES, count > 115_000]).to.deep.equal([true, true])
      const own = readOwn(bytes)
      expect(own).to.have.length(count)
      expect(own.at(-1)).to.include({ offset: count - 1, key: '', timestampMs: FIRST_MS })
    })

    it('all headers are read where each is empty', () => {
      const count = (MAX_BATCH_BYTES - HEADER_BYTES - 16) / 2
      const record = emptyRecord(0, Buffer.concat([varint(Math.floor(count)), Buffer.alloc(2 * Math.floor(count))]))
      const bytes = batchOf(record, 1)
      expect(bytes.length).to.be.within(MAX_BATCH_BYTES - 16, MAX_BATCH_BYTES)
      const [read] = readOwn(bytes)
      expect([read!.unreadable, read!.headers]).to.deep.equal([undefined, { '': '' }])
    })

    it('a portion at a time, each of them once', () => {
      const { bytes, count } = fullOfEmpty()
      const reader = new BatchReader(readBatches(bytes)[0]!, { topic: 'logs', partition: 3 }, 5)
      const all: ConsumedRecord[] = []
      let plainBytes = 0
      for (let rest: number | undefined = 0; rest !== undefined; ) {
        const portion: ConsumedRecord[] = []
        const read = reader.read(portion)
        expect(portion.length).to.equal(Math.min(MAX_PORTION_PARTS, count - 5 - all.length))
        plainBytes += read.plainBytes
        rest = read.restBytes
        expect(plainBytes + (rest ?? 0)).to.equal(bytes.length - HEADER_BYTES)
        all.push(...portion)
      }
      expect(all.map(({ offset }) => offset)).to.deep.equal(Array.from({ length: count - 5 }, (_, i) => i + 5))
    })

    it('a record that cannot be read ends the last portion, also right behind another', () => {
      const { bytes, count } = fullOfEmpty()
      const claimed = batchOf(bytes.subarray(HEADER_BYTES), count + MAX_PORTION_PARTS)
      const reader = new BatchReader(readBatches(claimed)[0]!, { topic: 'logs', partition: 3 }, 0)
      const first: ConsumedRecord[] = []
      expect(reader.read(first, count).restBytes).to.equal(0)
      expect(first).to.have.length(count)
      const last: ConsumedRecord[] = []
      expect(reader.read(last).restBytes).to.equal(undefined)
      expect(last.map(({ unreadable }) => unreadable)).to.deep.equal(['Kafka record batch at offset 0: it ends within a record'])
    })
  })

  for (const compression of ['gzip', 'lz4', 'snappy', 'zstd'] as const)
    it(`thousands that are not in their compression spoil neither reading nor writing of others: ${compression}`, () => {
      const identity = { producerId: 1n, producerEpoch: 0, baseSequence: 0, isTransactional: false }
      const write = () => encodeBatch([{ key: 'k', value: Buffer.alloc(9_000, 'a line of log ') }], identity, 0, 'lz4')
      const written = Buffer.from(write())
      const broken = Buffer.concat([libraryBatch().subarray(0, HEADER_BYTES), Buffer.from('these bytes are in no compression')])
      broken.writeInt32BE(broken.length - 12, 8)
      broken.writeInt16BE(compressionsAlgorithms[compression].bitmask, 21)
      for (let round = 0; round < 2_500; round++)
        expect(readOwn(broken).map(({ unreadable }) => typeof unreadable)).to.deep.equal(['string'])
      expect(readOwn(written).map(({ value, unreadable }) => [value.length, unreadable])).to.deep.equal([[9_000, undefined]])
      expect(Buffer.compare(write(), written)).to.equal(0)
    })

  it('goes on behind a batch that cannot be read', () => {
    const broken = libraryBatch({ firstOffset: 10 })
    broken.writeInt16BE(7, 21)
    const read = readOwn(Buffer.concat([broken, libraryBatch({ firstOffset: 15 })]))
    expect(read.map(({ offset, unreadable }) => (unreadable === undefined ? offset : `no ${offset}`))).to.deep.equal([
      'no 14',
      15,
      16,
      17,
      18,
      19,
    ])
  })

  it('refuses an answer with a batch without a length: where the next begins is not known', () => {
    const bytes = libraryBatch()
    bytes.writeInt32BE(-40, 8)
    expect(() => readBatches(bytes)).to.throw('has no length')
  })
})

/** As a client that streams writes it. */
function zstdWithoutSize(raw: Buffer): Buffer {
  const packed = zstdCompressSync(raw, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } })
  expect(contentBytes(packed)).to.equal(undefined)
  return packed
}
