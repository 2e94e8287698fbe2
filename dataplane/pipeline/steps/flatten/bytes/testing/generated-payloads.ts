/** Generated OTLP payloads for the flatteners: odd ones of every kind, ordinary ones, and how senders spell them. */
import fc from 'fast-check'
import type { AnyValue, KeyValue, LogRecord } from '../../../../../otlp/payload.ts'

/** The time at which records arrive; most are of then. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12)
export const NOW = `${NOW_MS}123456`

/** Few keys, so that records share shapes, collide, repeat and hit canonical names. */
const key = fc.constantFrom(
  ...['a', 'a.b', 'a_b', 'c', 'user.id', 'http.route', 'service.name', 'host.name', 'tenant_id', 'batch_id', 'level', 'is.anomaly'],
  ...['severity_text', '__proto__', '', 'é', 'x"y', 'a..b', '_id', '日本.語'],
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', 'acme', 'down', 'b1', 'é"\n', '\u001b[0m', '\b\f\t\u0000', '/\\', '\u2028', '😀', 'GET', '\ud800'),
)
/** Pieces of the words that scoring looks for, beside such as are masked. */
export const telling = fc
  .array(
    fc.constantFrom(
      ...[
        'of',
        'memory',
        'oom',
        'OOM',
        'time',
        'timed',
        'out',
        'refused',
        'npe',
        'null',
        'pointer',
        'seg',
        'fault',
        'segmentation',
        'disk',
        'SSL',
        'tls',
      ],
      ...[
        ' ',
        '_',
        '-',
        '"',
        "'",
        '`',
        ':',
        '/',
        '1',
        '2a3',
        'a1b2',
        '10.0.0.1',
        '2026-11-21T12:00:00Z',
        'T12',
        'Z',
        '0x1f',
        '\n',
        '\\',
        'é',
      ],
    ),
    { maxLength: 10 },
  )
  .map(pieces => pieces.join(''))
const message = fc.oneof(
  text,
  telling,
  fc
    .array(
      fc.constantFrom('took ', '12', ' ms, ', '"a b"', '{"level":"error",', '"level": 50', "it's ", '10.0.0.1:80', '\n', '\\', 'é', '😀'),
      { maxLength: 12 },
    )
    .map(words => words.join('')),
  fc.constantFrom('x'.repeat(1_023), 'é'.repeat(1_025), `${'x'.repeat(1_023)}😀 1`, `${'1 '.repeat(600)}`),
)
const double = fc.oneof(fc.double(), fc.constantFrom(0, -0, 5, 0.1, 0.000001, 1e-7, 1e21, 345.25, 123456789012.3456, 0.30000000000000004))
const number = fc.oneof(
  fc.integer().map(intValue => ({ intValue: String(intValue) })),
  fc.integer().map(intValue => ({ intValue }) as AnyValue),
  fc.constantFrom('9223372036854775807', '-9223372036854775808', '007', '-0', '0').map(intValue => ({ intValue })),
  double.map(doubleValue => ({ doubleValue: Number.isFinite(doubleValue) ? doubleValue : String(doubleValue) })),
)
const scalar: fc.Arbitrary<AnyValue> = fc.oneof(
  text.map(stringValue => ({ stringValue })),
  number,
  fc.boolean().map(boolValue => ({ boolValue })),
)
const value: fc.Arbitrary<AnyValue> = fc.letrec<{ value: AnyValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.constant({}),
    fc.constant({ bytesValue: 'aGk=' }),
    fc.array(tie('value'), { maxLength: 3 }).map(values => ({ arrayValue: { values } })),
    fc.array(fc.record({ key, value: tie('value') }), { maxLength: 3 }).map(values => ({ kvlistValue: { values } })),
  ),
})).value
const attributesOf = (values: fc.Arbitrary<AnyValue>): fc.Arbitrary<KeyValue[]> =>
  fc.array(fc.record({ key, value: values }), { maxLength: 5 })
const someAttributes = fc.oneof({ weight: 3, arbitrary: attributesOf(scalar) }, { weight: 1, arbitrary: attributesOf(value) })
const time = fc.constantFrom(NOW, NOW, '0', '1', `${NOW_MS - 90 * 86_400_000}000000`, `${NOW_MS}000000`, '7258118400000000001', '-5', 'now')
const record: fc.Arbitrary<LogRecord> = fc.record(
  {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityText: fc.constantFrom('', 'INFO', 'Err', 'odd', 'é', 'a\nb'),
    severityNumber: fc.constantFrom(0, 9, 17, 24, 25, 99, -1, 1.5),
    body: fc.oneof({ weight: 4, arbitrary: message.map(stringValue => ({ stringValue })) }, { weight: 1, arbitrary: value }),
    attributes: someAttributes,
    droppedAttributesCount: fc.constantFrom(0, 3),
    flags: fc.constantFrom(0, 1, 257),
    traceId: fc.constantFrom('70AD787D48FD22A2601C24C7AC76F948', 'short', '', '0'.repeat(32), 'g'.repeat(32)),
    spanId: fc.constantFrom('a75d0dff13b423aa', '0000000000000000'),
    eventName: fc.constantFrom('', '', 'order.placed'),
  },
  { requiredKeys: [] },
)
/** The members of an object in another order. */
const shuffled = <T extends object>(object: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  object.chain(each =>
    fc.shuffledSubarray(Object.entries(each), { minLength: Object.keys(each).length }).map(entries => Object.fromEntries(entries) as T),
  )
const scope = fc.option(fc.record({ name: text, version: text, attributes: attributesOf(value) }, { requiredKeys: [] }), { nil: undefined })
const resource = fc.option(fc.record({ attributes: attributesOf(value) }), { nil: undefined })
const records = fc.array(
  fc.oneof({ weight: 9, arbitrary: shuffled(record) }, { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<LogRecord> }),
  {
    maxLength: 4,
  },
)
const scopeLogs = fc.array(fc.record({ scope, logRecords: records, schemaUrl: fc.constantFrom(undefined, 's') }), { maxLength: 2 })
export const payload = fc.record({ resourceLogs: fc.array(fc.record({ resource, scopeLogs }), { maxLength: 2 }) })

const attributesWith = (keys: readonly string[]) =>
  fc.uniqueArray(fc.record({ key: fc.constantFrom(...keys), value: ordinaryValue }), { selector: attribute => attribute.key, maxLength: 6 })
const wellFormed = (texts: fc.Arbitrary<string>) => texts.map(each => each.toWellFormed())
const ordinaryValue: fc.Arbitrary<AnyValue> = fc.oneof(
  wellFormed(text).map(stringValue => ({ stringValue })),
  fc.integer().map(intValue => ({ intValue: String(intValue) })),
  double.filter(Number.isFinite).map(doubleValue => ({ doubleValue })),
  fc.boolean().map(boolValue => ({ boolValue })),
)
const ordinaryRecord = fc.record(
  {
    timeUnixNano: fc.bigInt(1_000_000_000_000_000_000n, 9_999_999_999_999_999_999n).map(String),
    observedTimeUnixNano: fc.constantFrom(NOW, '0'),
    severityText: fc.constantFrom('', 'INFO', 'Err', 'odd'),
    severityNumber: fc.integer({ min: 0, max: 30 }),
    body: wellFormed(message).map(stringValue => ({ stringValue })),
    attributes: attributesWith(['a.b', 'b', 'http.route', 'level', 'is.anomaly', 'é.ü', '_id', '']),
    traceId: fc.constantFrom('70AD787D48FD22A2601C24C7AC76F948', 'short'),
    spanId: fc.constantFrom('a75d0dff13b423aa', '0000000000000000'),
  },
  { requiredKeys: ['timeUnixNano'] },
)
const ordinaryResource = fc.record({ attributes: attributesWith(['service.name', 'host.name', 'tenant_id', 'r.x', 'message']) })
export const ordinaryPayload = fc.record({
  resourceLogs: fc.array(
    fc.record({
      resource: ordinaryResource,
      scopeLogs: fc.array(fc.record({ logRecords: fc.array(shuffled(ordinaryRecord), { maxLength: 4 }) }), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
})
/** White space as `JSON.stringify` puts it; texts as any sender may escape them. */
export const spelling = fc.record({ indent: fc.constantFrom('', '', '', ' ', '\t'), asciiOnly: fc.constantFrom(false, false, true) })

export function spell(json: unknown, { indent, asciiOnly }: { readonly indent: string; readonly asciiOnly: boolean }): Buffer {
  const spelled = JSON.stringify(json, null, indent)
  return Buffer.from(
    asciiOnly ? spelled.replace(/[\u0080-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) : spelled,
  )
}
