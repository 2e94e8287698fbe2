import { compressionsAlgorithms, Reader, readRecordsBatches } from '@platformatic/kafka'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import type { Compression } from './compression.ts'
import { encodeBatch } from './write-batch.ts'

const IDENTITY = { producerId: 4711n, producerEpoch: 3, baseSequence: 12, isTransactional: false }

describe('a record batch for Kafka', () => {
  it('is read by the library as it was written, whatever keys, bytes and headers it holds', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 200 })
    const record = fc.record({
      key: texts,
      value: fc.uint8Array({ maxLength: 3_000 }),
      headers: fc.dictionary(texts, texts, { maxKeys: 3 }),
    })
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), records => {
        const [batch, ...others] = readRecordsBatches(Reader.from(encodeBatch(records, IDENTITY, 1_700_000_000_123, 'zstd')))
        expect(others).to.deep.equal([])
        expect(batch).to.include({ producerId: 4711n, producerEpoch: 3, firstSequence: 12, firstTimestamp: 1_700_000_000_123n })
        expect(batch!.lastOffsetDelta).to.equal(records.length - 1)
        for (const [i, { key, value, headers }] of batch!.records.entries()) {
          expect(batch!.records[i]!.offsetDelta).to.equal(i)
          expect(Buffer.compare(key!, Buffer.from(records[i]!.key))).to.equal(0)
          expect(Buffer.compare(value!, records[i]!.value)).to.equal(0)
          expect(headers.map(([name, content]) => [name!.toString(), content!.toString()])).to.deep.equal(
            Object.entries(records[i]!.headers).map(([name, content]) => [Buffer.from(name).toString(), Buffer.from(content).toString()]),
          )
        }
      }),
      { numRuns: rounds(30), seed: 1 },
    )
  })

  it('stays as it is when the next one is written', () => {
    const write = (text: string) => encodeBatch([{ key: 'k', value: Buffer.from(text) }], IDENTITY, 0, 'zstd')
    for (const length of [10, 5_000, 300_000]) {
      const first = write('a'.repeat(length))
      write('b'.repeat(length))
      const [batch] = readRecordsBatches(Reader.from(first))
      expect(batch!.records[0]!.value!.toString()).to.equal('a'.repeat(length))
    }
  })

  it('is compressed as far as that pays, and says when it belongs to a transaction', () => {
    const attributesOf = (bytes: number, compression: Compression, isTransactional = false) =>
      encodeBatch([{ key: 'k', value: Buffer.alloc(bytes) }], { ...IDENTITY, isTransactional }, 0, compression).readInt16BE(21)
    const { lz4, zstd } = compressionsAlgorithms
    expect([100, 5_000, 50_000].map(bytes => attributesOf(bytes, 'zstd'))).to.deep.equal([0, lz4.bitmask, zstd.bitmask])
    expect([100, 5_000, 50_000].map(bytes => attributesOf(bytes, 'lz4'))).to.deep.equal([0, lz4.bitmask, lz4.bitmask])
    expect([100, 5_000, 50_000].map(bytes => attributesOf(bytes, 'none'))).to.deep.equal([0, 0, 0])
    expect(attributesOf(5_000, 'zstd', true)).to.equal(lz4.bitmask | 0x10)
    expect(attributesOf(50_000, 'zstd', true)).to.equal(zstd.bitmask | 0x10)
  })
})
