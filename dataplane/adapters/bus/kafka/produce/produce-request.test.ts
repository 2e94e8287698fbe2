import { Reader, Writer } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type EncodedBatch, encodeProduce, parseProduceAnswer } from './produce-request.ts'

/** The same request as the library's writer puts it together, value by value. */
function written(topic: string, batches: readonly EncodedBatch[], timeoutMs: number, transactionalId: string | null): Buffer {
  return Writer.create()
    .appendString(transactionalId)
    .appendInt16(-1)
    .appendInt32(timeoutMs)
    .appendArray([topic], (topics, name) =>
      topics.appendString(name).appendArray([...batches], (partitions, { partition, bytes }) =>
        partitions
          .appendInt32(partition)
          .appendUnsignedVarInt(bytes.length + 1)
          .append(bytes),
      ),
    )
    .appendTaggedFields().buffer
}

const batch = (partition: number, bytes: number): EncodedBatch => ({ partition, bytes: Buffer.alloc(bytes, partition) })

describe('the Produce request', () => {
  const cases: { name: string; topic: string; batches: EncodedBatch[]; id: string | null }[] = [
    { name: 'one batch', topic: 'raw-logs', batches: [batch(3, 90)], id: null },
    { name: 'batches of several partitions', topic: 'raw-logs', batches: [batch(0, 70), batch(300, 127), batch(70_000, 20_000)], id: null },
    { name: 'a batch of megabytes', topic: 'raw-logs', batches: [batch(1, 3_000_000)], id: null },
    { name: 'a transaction', topic: 'enriched-logs', batches: [batch(1, 100), batch(2, 126)], id: 'stream-é-0' },
    { name: 'long names', topic: 't'.repeat(249), batches: [batch(1, 100)], id: 'i'.repeat(300) },
    { name: 'nothing', topic: 'raw-logs', batches: [], id: null },
  ]
  for (const { name, topic, batches, id } of cases)
    it(`has the form of Kafka's protocol: ${name}`, () =>
      expect(encodeProduce(topic, batches, 4_000, id).buffer.equals(written(topic, batches, 4_000, id))).to.equal(true))
})

describe("the broker's answer to Produce", () => {
  /** Versions from 10 on name the leader where it has moved. */
  const answer = ({ movedTo }: { movedTo?: number } = {}) =>
    Writer.create()
      .appendArray(['logs', 'others'], (topics, name, at) =>
        topics.appendString(name).appendArray(
          [0, 1],
          (partitions, index) => {
            const code = 2 * at + index
            partitions.appendInt32(index + 10 * at).appendInt16(code === 3 ? -1 : code)
            partitions.appendInt64(7n).appendInt64(-1n).appendInt64(0n)
            partitions.appendArray(code === 1 ? [4, 5] : [], (errors, record) => errors.appendInt32(record).appendString('too old'))
            partitions.appendString(code === 0 ? null : 'why')
            if (movedTo === undefined) partitions.appendTaggedFields()
            else
              partitions
                .appendUnsignedVarInt(1)
                .appendUnsignedVarInt(0)
                .appendUnsignedVarInt(9)
                .appendInt32(movedTo)
                .appendInt32(1)
                .appendInt8(0)
          },
          true,
          false,
        ),
      )
      .appendInt32(0)
      .appendTaggedFields().buffer

  const parse = (bytes: Buffer) => [...parseProduceAnswer(1, 0, 11, Reader.from(bytes))]
  const CODES = [
    [0, 0],
    [1, 1],
    [10, 2],
    [11, -1],
  ]

  it('has a code for each partition', () => expect(parse(answer())).to.deep.equal(CODES))

  it('is read past the leader that it names', () => expect(parse(answer({ movedTo: 300 }))).to.deep.equal(CODES))

  it('may lie behind other bytes', () => {
    const reader = Reader.from(Buffer.concat([Buffer.alloc(5, 0xff), answer()]))
    reader.skip(5)
    expect([...parseProduceAnswer(1, 0, 11, reader)]).to.deep.equal(CODES)
  })

  it('is refused when it ends too early', () => {
    const whole = answer()
    const needed = whole.length - 5 // behind that come the pause that the broker asks for and tagged fields, which nobody reads
    for (let length = 0; length < needed; length++) expect(() => parse(whole.subarray(0, length)), `${length} bytes`).to.throw(RangeError)
  })
})
