import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { BusRecord, ConsumedRecord } from '../../../../ports/bus.ts'
import { rounds } from '../../../../testing/rounds.ts'
import { partitionOf } from '../../partitioner.ts'
import { headerLengthAt, parseFrameHeader, stampFrame } from './bus-frame.ts'
import { encodeRecords, FrameRecords, RecordCursor, sizeOf } from './record-batch.ts'

const PARTITIONS = 4
const SALT = 0xdeadbeef

/** The records that a reader gets of a frame, taken in bites of `bite`. */
function roundTrip(records: readonly BusRecord[], nextOffsets: Float64Array, bite: number): readonly ConsumedRecord[] {
  const frame = encodeRecords(records, PARTITIONS)
  stampFrame(frame.header, { timestampMs: 1234, salt: SALT, transactionId: 0 }, new Float64Array(PARTITIONS).fill(100))
  const bytes = Buffer.from(frame.header)
  const header = parseFrameHeader(bytes, 0, headerLengthAt(bytes, 0), SALT)!
  const body = Buffer.from(frame.body)
  const cursor = new RecordCursor(new FrameRecords('topic', header, body))
  body.fill(0)
  const out: ConsumedRecord[] = []
  while (!cursor.done) cursor.take(out, out.length + bite, Number.POSITIVE_INFINITY, nextOffsets)
  return out
}

const record: fc.Arbitrary<BusRecord> = fc.record(
  {
    key: fc.string({ unit: 'binary', maxLength: 20 }),
    value: fc.uint8Array({ maxLength: 300 }),
    headers: fc.dictionary(
      fc.string({ maxLength: 8 }).filter(name => name !== '__proto__'),
      fc.string({ unit: 'binary', maxLength: 10 }),
      { maxKeys: 3 },
    ),
  },
  { requiredKeys: ['key', 'value'] },
)

describe('record batch', () => {
  it('property: returns every record unchanged, in order per partition, with consecutive offsets, whatever the bites', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (records, bite) => {
        const got = roundTrip(records, new Float64Array(PARTITIONS), bite)
        for (let partition = 0; partition < PARTITIONS; partition++) {
          const sent = records.filter(({ key }) => partitionOf(key, PARTITIONS) === partition)
          const received = got.filter(r => r.partition === partition)
          expect(received.map(r => r.offset)).to.deep.equal(sent.map((_, i) => 100 + i))
          expect(received.map(r => ({ key: r.key, value: [...r.value], headers: { ...r.headers } }))).to.deep.equal(
            sent.map(({ key, value, headers = {} }) => ({ key: key.toWellFormed(), value: [...value], headers: { ...headers } })),
          )
        }
        expect(got).to.have.length(records.length)
      }),
      { numRuns: rounds(60) },
    )
  })

  it('hands out wanted partitions alone, from the wanted offset on', () => {
    const records = Array.from({ length: 40 }, (_, i) => ({ key: `key ${i}`, value: Buffer.from(`value ${i}`) }))
    const wanted = partitionOf('key 0', PARTITIONS)
    const got = roundTrip(records, new Float64Array(PARTITIONS).fill(-1).with(wanted, 102), 100)
    expect(got.map(r => Buffer.from(r.value).toString())).to.deep.equal(
      records
        .filter(r => partitionOf(r.key, PARTITIONS) === wanted)
        .slice(2)
        .map(r => r.value.toString()),
    )
  })

  it('property: a record never takes more than its reckoned size', () => {
    fc.assert(
      fc.property(record, one => encodeRecords([one], 1).body.length <= sizeOf(one) + 8),
      { numRuns: rounds(100) },
    )
  })
})
