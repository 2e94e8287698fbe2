import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { AnyValue, KeyValue, LogRecord } from '../../otlp/payload.ts'
import { createPlainFlattener } from './plain-flattener.ts'
import { createRecordFlattener } from './record-flattener.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const CONFIG = {
  defaultTenant: 'default',
  lookupFeatures: (_tenant: string, service: string) => (service === 'down' ? ('unreachable' as const) : undefined),
}

/** Few keys, so that records share shapes, collide, repeat and hit canonical names. */
const key = fc.constantFrom(
  'a',
  'a.b',
  'a_b',
  'c',
  'user.id',
  'http.route',
  'service.name',
  'host.name',
  'tenant_id',
  'batch_id',
  'level',
  'is.anomaly',
  'severity_text',
  '__proto__',
  '',
  'é',
  'x"y',
  'a..b',
)
const text = fc.oneof(fc.string(), fc.constantFrom('', 'acme', 'down', 'b1', 'é"\n', '\ud800', 'GET'))
const value: fc.Arbitrary<AnyValue> = fc.letrec<{ value: AnyValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text.map(stringValue => ({ stringValue })),
    fc.integer().map(intValue => ({ intValue: String(intValue) })),
    fc.double().map(doubleValue => ({ doubleValue: Number.isFinite(doubleValue) ? doubleValue : String(doubleValue) })),
    fc.boolean().map(boolValue => ({ boolValue })),
    fc.constant({}),
    fc.constant({ bytesValue: 'aGk=' }),
    fc.array(tie('value'), { maxLength: 3 }).map(values => ({ arrayValue: { values } })),
    fc.array(fc.record({ key, value: tie('value') }), { maxLength: 3 }).map(values => ({ kvlistValue: { values } })),
  ),
})).value
const attributes: fc.Arbitrary<KeyValue[]> = fc.array(fc.record({ key, value }), { maxLength: 5 })
const time = fc.constantFrom('0', '1', `${NOW_MS}123456`, `${NOW_MS - 90 * 86_400_000}000000`, '7258118400000000001', '-5', 'now')
const record: fc.Arbitrary<LogRecord> = fc.record(
  {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityText: fc.constantFrom('', 'INFO', 'Err', 'odd'),
    severityNumber: fc.constantFrom(0, 9, 17, 99),
    body: value,
    attributes,
    traceId: fc.constantFrom('70AD787D48FD22A2601C24C7AC76F948', 'short', ''),
    spanId: fc.constantFrom('a75d0dff13b423aa', '0000000000000000'),
    eventName: fc.constantFrom('', 'order.placed'),
  },
  { requiredKeys: [] },
)
const scope = fc.option(fc.record({ name: text, version: text, attributes }, { requiredKeys: [] }), { nil: undefined })
const resource = fc.option(fc.record({ attributes }), { nil: undefined })

describe('the record flattener', () => {
  it('does what the plain one does, byte for byte', () => {
    const plain = createPlainFlattener(CONFIG)
    const quick = createRecordFlattener(CONFIG)
    fc.assert(
      fc.property(resource, scope, fc.array(record, { maxLength: 4 }), (someResource, someScope, records) => {
        for (const flattener of [plain, quick]) {
          flattener.start({ receivedAtMs: NOW_MS, retentionDays: 30 })
          flattener.setResource(someResource)
          flattener.setScope(someScope)
        }
        for (const each of records) expect(readable(quick.flatten(each))).to.deep.equal(readable(plain.flatten(each)))
      }),
      { seed: 11, numRuns: 1_500 },
    )
  })

  function readable(outcome: ReturnType<ReturnType<typeof createPlainFlattener>['flatten']>) {
    return outcome.kind === 'emit' ? { ...outcome.value, value: Buffer.from(outcome.value.value).toString() } : outcome
  }
})
