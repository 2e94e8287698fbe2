import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MAX_PLAIN_BYTES } from '../kafka/batches/compression.ts'
import { MAX_BATCH_PARTS } from '../kafka/batches/read-batch.ts'
import { encodeBatch } from '../kafka/batches/write-batch.ts'
import { type FetchedMessage, readFetchedMessages } from './fetch-answer.ts'
import { repairLibrary } from './library-repairs.ts'

const load = createRequire(import.meta.url)
const Decoder = load('kafkajs/src/protocol/decoder.js')
const IDENTITY = { producerId: 7n, producerEpoch: 0, baseSequence: 0, isTransactional: true }

function batchOf(values: readonly string[], firstOffset: number): Buffer {
  const bytes = Buffer.from(
    encodeBatch(
      values.map(value => ({ key: 'shop/cart', value: Buffer.from(value), headers: { layout: '1' } })),
      IDENTITY,
      1_700_000_000_000,
      'zstd',
    ),
  )
  bytes.writeBigInt64BE(BigInt(firstOffset), 0)
  return bytes
}

/** Three quarters of what a batch may hold come out of it. */
function largeBatch(firstOffset: number): Buffer {
  const header = batchOf([''], firstOffset).subarray(0, 61)
  const bytes = Buffer.concat([header, zstdCompressSync(Buffer.alloc((MAX_PLAIN_BYTES * 3) / 4))])
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt16BE(4, 21)
  return bytes
}

const answerOf = (...partitions: readonly Buffer[]) => {
  const lengths = partitions.map(({ length }) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(length)
    return bytes
  })
  return new Decoder(Buffer.concat(partitions.flatMap((bytes, i) => [lengths[i]!, bytes])))
}
const offsets = (messages: readonly FetchedMessage[]) => [...new Set(messages.map(({ offset }) => offset))]

describe('messages of a Fetch answer', () => {
  it('are those of all batches, as the library knows messages', () => {
    const [first, , third] = readFetchedMessages(answerOf(Buffer.concat([batchOf(['a', 'b'], 5), batchOf(['c'], 9)])))
    expect(first).to.deep.include({ offset: '5', timestamp: '1700000000000', key: null, isControlRecord: false })
    expect(first!.batchContext).to.deep.equal({ producerId: '7', inTransaction: true })
    expect(first!.record).to.deep.include({ offset: 5, key: 'shop/cart', headers: { layout: '1' } })
    expect(String(third!.value)).to.equal('c')
    expect(third!.offset).to.equal('9')
  })

  it('are none where none came, or the answer was cut off', () => {
    expect(readFetchedMessages(answerOf(Buffer.alloc(0)))).to.deep.equal([])
    const whole = answerOf(batchOf(['a'], 5))
    expect(readFetchedMessages(new Decoder(whole.buffer.subarray(0, -1)))).to.deep.equal([])
  })

  it('behind more than a batch may hold are left for the next answer, of other partitions, too', () => {
    const answer = answerOf(Buffer.concat([largeBatch(1), largeBatch(2), batchOf(['x'], 3)]), batchOf(['y'], 8))
    expect(offsets(readFetchedMessages(answer))).to.deep.equal(['1', '2'])
    expect(readFetchedMessages(answer)).to.deep.equal([])
  })

  it('behind more records and headers than a batch may hold are left, too, however few their bytes are', () => {
    const headers = Object.fromEntries(Array.from({ length: (MAX_BATCH_PARTS * 3) / 4 }, (_, i) => [i.toString(36), '']))
    const many = Buffer.from(encodeBatch([{ key: '', value: Buffer.alloc(0), headers }], IDENTITY, 0, 'zstd'))
    expect(offsets(readFetchedMessages(answerOf(Buffer.concat([many, many, batchOf(['x'], 3)]))))).to.deep.equal(['0'])
    const answer = answerOf(many, many, batchOf(['x'], 3))
    expect([1, 2, 3].map(() => readFetchedMessages(answer).length)).to.deep.equal([1, 1, 0])
  })

  it('are read in place of the library, by all versions of the answer that have batches', async () => {
    repairLibrary()
    const decodeMessages = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js')
    const messages = await decodeMessages(answerOf(batchOf(['a'], 5)))
    expect(messages[0].record.offset).to.equal(5)
    for (const version of [4, 11]) {
      const response = load.resolve(`kafkajs/src/protocol/requests/fetch/v${version}/response.js`)
      load(response)
      const used = load.cache[response]!.children.map(({ exports }) => exports)
      expect(used, `version ${version}`).to.include(decodeMessages)
    }
  })
})
