import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import type { AnyValue, LogRecord } from '../payload.ts'
import { encodeMessage } from '../testing/logs-proto.ts'
import { transcodeProtobuf } from './transcode-protobuf.ts'

const OPTIONS = { observedTimeUnixNano: '1767225600000000000' }
/** An unknown field, by which a record is no plain one; it leaves no trace in the JSON. */
const UNKNOWN_FIELD = Buffer.from([0x68, 0x01])

const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', '\u001f', '\u007f', 'é', '漢', '😀'), maxLength: 40 }),
)
const value: fc.Arbitrary<AnyValue> = fc.oneof(
  fc.record({ stringValue: text }),
  fc.record({ boolValue: fc.boolean() }),
  fc.record({ intValue: fc.oneof(fc.integer({ min: -2, max: 20_000 }).map(String), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String)) }),
  fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
)
const time = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 5_000_000_000n)).map(String)
const id = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(each => Buffer.from(each).toString('base64'))
const record: fc.Arbitrary<LogRecord> = fc.record(
  {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: fc.integer({ min: -1, max: 200 }),
    severityText: text,
    body: fc.record({ stringValue: text }),
    attributes: fc.array(fc.record({ key: text, value }), { maxLength: 6 }),
    droppedAttributesCount: fc.nat({ max: 200 }),
    flags: fc.nat({ max: 2 ** 32 - 1 }),
    traceId: id(16),
    spanId: id(8),
    eventName: text,
  },
  { requiredKeys: [] },
)

const varint = (length: number): number[] => (length < 128 ? [length] : [(length & 127) | 128, ...varint(length >>> 7)])
const block = (tag: number, content: Uint8Array) => Buffer.concat([Buffer.from([tag, ...varint(content.length)]), content])

/** A request of these records. */
const requestOf = (records: readonly Uint8Array[]) => block(0x0a, block(0x12, Buffer.concat(records.map(each => block(0x12, each)))))

/** The bytes of the one record of a request that a library wrote. */
function wireOf(logRecord: LogRecord): Buffer {
  const request = encodeMessage('ExportLogsServiceRequest', { resourceLogs: [{ scopeLogs: [{ logRecords: [logRecord] }] }] })
  let at = 0
  for (let level = 0; level < 3; level++) {
    at++
    while (request[at++]! >= 128);
  }
  return request.subarray(at)
}

function transcoded(records: readonly Uint8Array[]) {
  const { text: json, recordBounds, timeKeys } = transcodeProtobuf(requestOf(records), OPTIONS)
  return { json: Buffer.from(json).toString(), recordBounds, timeKeys }
}

describe('OTLP protobuf: records of the usual form', () => {
  it('are written as those are that take the general way', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 4 }), records => {
        const wires = records.map(wireOf)
        expect(transcoded(wires)).to.deep.equal(transcoded(wires.map(wire => Buffer.concat([UNKNOWN_FIELD, wire]))))
      }),
      { seed: 2, numRuns: rounds(1_500) },
    )
  })

  it('changed at any byte, too', () => {
    const wires = fc.sample(record, { seed: 3, numRuns: 15 }).map(wireOf)
    for (const wire of wires)
      for (let at = 0; at < wire.length; at++)
        for (const byte of [0, 1, 0x0a, 0x12, 0x7f, 0x80, 0xff]) {
          const changed = Buffer.from(wire)
          changed[at] = byte
          const general = outcome([Buffer.concat([UNKNOWN_FIELD, changed])])
          expect(outcome([changed]), `byte ${at} of ${wire.toString('hex')} as ${byte}`).to.deep.equal(general)
        }
  })

  it('with the times that have as many digits as times can have', () => {
    for (const timeUnixNano of ['1', '999999999', '1000000000', '9999999999999999999', '10000000000000000000', '18446744073709551615'])
      expect(transcoded([wireOf({ timeUnixNano })]).json).to.contain(`{"timeUnixNano":"${timeUnixNano}"}`)
  })
})

function outcome(records: readonly Uint8Array[]) {
  try {
    return transcoded(records)
  } catch (error) {
    return error instanceof Error ? error.constructor.name : error
  }
}
