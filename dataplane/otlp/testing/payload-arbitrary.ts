/** Generated OTLP payloads in canonical JSON form. */
import fc from 'fast-check'
import type { AnyValue, KeyValue, LogRecord, LogsPayload, Resource, ResourceLogs, ScopeLogs } from '../payload.ts'

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }), fc.constant('"\\\u0000\n\u007f/é漢😀'))
const uint64 = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(String)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
const uint32 = fc.nat({ max: 2 ** 32 - 1 })
const base64 = fc.uint8Array({ maxLength: 9 }).map(bytes => Buffer.from(bytes).toString('base64'))
const double = fc.double().map(value => (Number.isFinite(value) ? value : String(value)))
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .filter(id => id.some(byte => byte !== 0))
    .map(id => Buffer.from(id).toString('hex'))

const { anyValue, keyValue } = fc.letrec<{ anyValue: AnyValue; keyValue: KeyValue }>(tie => ({
  anyValue: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: double }),
    fc.record({ bytesValue: base64 }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('anyValue'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('keyValue'), { maxLength: 3 }) }) }),
  ),
  keyValue: fc.record({ key: text, value: tie('anyValue') }, { requiredKeys: [] }),
}))
const attributes = fc.array(keyValue, { minLength: 1, maxLength: 4 })

const logRecord: fc.Arbitrary<LogRecord> = fc.record(
  {
    timeUnixNano: uint64,
    observedTimeUnixNano: uint64,
    severityNumber: fc.integer({ min: -1, max: 30 }),
    severityText: text,
    body: anyValue,
    attributes,
    droppedAttributesCount: uint32,
    flags: uint32,
    traceId: hex(16),
    spanId: hex(8),
    eventName: text,
  },
  { requiredKeys: ['timeUnixNano'] },
)
const resource: fc.Arbitrary<Resource> = fc.record({ attributes, droppedAttributesCount: uint32 }, { requiredKeys: [] })
const scopeLogs: fc.Arbitrary<ScopeLogs> = fc.record(
  {
    scope: fc.record({ name: text, version: text, attributes, droppedAttributesCount: uint32 }, { requiredKeys: [] }),
    logRecords: fc.array(logRecord, { maxLength: 3 }),
    schemaUrl: text,
  },
  { requiredKeys: ['logRecords'] },
)
const resourceLogs: fc.Arbitrary<ResourceLogs> = fc.record(
  { resource, scopeLogs: fc.array(scopeLogs, { maxLength: 2 }), schemaUrl: text },
  { requiredKeys: ['scopeLogs'] },
)

export const payloadArbitrary: fc.Arbitrary<LogsPayload> = fc.record({ resourceLogs: fc.array(resourceLogs, { maxLength: 2 }) })
