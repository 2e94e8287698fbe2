import fc from 'fast-check'
import type { WriteOp } from '../../index-storage.ts'

/** Words that try the analyzer, the escapes and the encodings. */
const word = fc.constantFrom(
  'timeout',
  'Read',
  'timed',
  'out',
  '503',
  '10.1.2.3',
  'java.net.Socket',
  "can't",
  'a:b',
  '1,234',
  '__x__',
  '_',
  'x86_64',
  '"quoted"',
  'back\\slash',
  'tab\there',
  'é',
  'naïve',
  '日本',
  'สวัสดี',
  '👍',
  '\ud800',
  '\0',
  '\u001b[31m',
  'a..b',
  '3.a',
  'a.1',
  '',
  'İ',
  'x'.repeat(260),
)
const message = fc.array(word, { maxLength: 8 }).map(words => words.join(' '))
const scalar = fc.oneof(
  message,
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)

const timestamp = fc
  .tuple(fc.integer({ min: 0, max: 3_600_000 }), fc.constantFrom('', '1', '123456'))
  .map(([ms, more]) => `${new Date(Date.UTC(2026, 10, 21) + ms).toISOString().slice(0, -1)}${more}Z`)

/** A log document that is well formed and fits the mapping, most of the time. */
export const document = fc.record(
  {
    timestamp,
    service: fc.constantFrom('cart', 'checkout', 'paymént', 'a "b"'),
    level: fc.constantFrom('INFO', 'WARN', 'ERROR'),
    tenant_id: fc.constantFrom('default', 'acme'),
    message,
    anomaly_score: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 10, noNaN: true })),
    is_anomaly: fc.oneof(fc.boolean(), fc.constantFrom('true', 'false')),
    'user.id': fc.oneof(fc.integer({ min: 0, max: 9 }).map(String), fc.constant(7)),
    tags: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    code: fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom('200', '404.0', '', 'bad')),
    nested: fc.oneof(
      fc.record({ deep: fc.record({ er: scalar }), list: fc.array(fc.record({ n: fc.integer({ max: 3, min: 0 }) }), { maxLength: 2 }) }),
      fc.constant(5),
    ),
    attributes: fc.dictionary(fc.constantFrom('service.version', 'host.name', 'x', '__proto__', 'é'), scalar, { maxKeys: 3 }),
    extra: scalar,
    __proto__: fc.constantFrom('p', 'q'),
  },
  { requiredKeys: ['service'] },
)

const id = fc.oneof(
  fc.integer({ min: 0, max: 7 }).map(n => `0000000${n}-0000-5000-a000-000000000000`),
  fc.constantFrom('plain', 'ünï', 'A-B'),
)

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))
/** Compact, or with spaces and line breaks as a hand writes it. */
const source = fc.oneof(
  { weight: 4, arbitrary: document.map(bytes) },
  { weight: 1, arbitrary: document.map(each => Buffer.from(JSON.stringify(each, undefined, ' '))) },
)

export const operation: fc.Arbitrary<WriteOp> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ action: fc.constantFrom('create' as const, 'index' as const), id, source }) },
  {
    weight: 2,
    arbitrary: fc.record({
      action: fc.constant('update' as const),
      id,
      partial: fc.record({ is_anomaly: fc.boolean(), anomaly_score: fc.integer({ min: 0, max: 5 }) }).map(bytes),
      upsert: source,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      action: fc.constant('update' as const),
      id,
      partial: fc.record({ service: fc.constantFrom('cart', 'new') }).map(bytes),
    }),
  },
  { weight: 1, arbitrary: fc.record({ action: fc.constant('delete' as const), id }) },
  {
    weight: 1,
    arbitrary: fc.record({
      action: fc.constant('index' as const),
      id,
      source,
      ifSeqNo: fc.integer({ min: 0, max: 5 }),
      ifPrimaryTerm: fc.constant(1),
    }),
  },
)
