/** Documents over fields of every type, with the values that senders really write: numbers as texts, lists, nulls, odd characters, dates of many forms. */
import fc from 'fast-check'
import type { Json } from './compared-documents.ts'

/** A table of the store, and a log index: the same documents in both. */
export const TYPED_INDEX = 'compare-typed'
export const TYPED_LOGS = 'service-logs-typed'

export const TYPED_MAPPING = {
  properties: {
    '@timestamp': { type: 'date' },
    n: { type: 'integer' },
    kw: { type: 'keyword' },
    short_kw: { type: 'keyword', ignore_above: 5 },
    low_kw: { type: 'keyword', normalizer: 'lowercase' },
    unindexed: { type: 'keyword', index: false },
    txt: { type: 'text', fields: { raw: { type: 'keyword', ignore_above: 20 } } },
    plain: { type: 'text' },
    lng: { type: 'long' },
    int: { type: 'integer' },
    byt: { type: 'byte' },
    big: { type: 'unsigned_long' },
    dbl: { type: 'double' },
    flt: { type: 'float' },
    bool: { type: 'boolean' },
    dat: { type: 'date' },
    nanos: { type: 'date_nanos' },
    day: { type: 'date', format: 'yyyy/MM/dd||epoch_second' },
    ip: { type: 'ip' },
    flat: { type: 'flat_object' },
    obj: { properties: { a: { type: 'keyword' }, b: { properties: { c: { type: 'long' } } } } },
    other: { type: 'alias', path: 'lng' },
  },
} as const

/** A number that JSON takes and a double does not hold: written as it stands. */
export interface Digits {
  readonly digits: string
}
const digits = (text: string): Digits => ({ digits: text })
const isDigits = (value: unknown): value is Digits => typeof value === 'object' && value !== null && Object.keys(value).join() === 'digits'

/** JSON in which `Digits` are numbers. */
export function jsonOf(value: unknown): string {
  if (isDigits(value)) return value.digits
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${JSON.stringify(key)}:${jsonOf(member)}`)
      .join(',')}}`
  return JSON.stringify(value)
}

export const KEYWORDS = [
  ...[
    '',
    'a',
    'A',
    'b',
    'aa',
    'a b',
    ' a ',
    'cart',
    'Cart',
    'abcdef',
    '1',
    '10',
    '1.0',
    'true',
    'null',
    'ä',
    'a\u0308',
    'İstanbul',
    'straße',
  ],
  ...['STRASSE', 'Σίσυφος', 'ς', '😀', '👩\u200d🚀', '\uffff', '\u{10ffff}', 'a*b', 'a?b', 'a\\b', 'a"b', '/a/b', 'a:b', 'x'.repeat(30)],
] as const
export const TEXTS = [
  ...[
    '',
    '...',
    'disk full',
    'Disk FULL now',
    'the disk is not full',
    'connection refused: timeout',
    'time-out 12.5 ms',
    'user@example.com',
  ],
  ...["10.0.0.7:8080 can't", 'İstanbul straße ΣΊΣΥΦΟΣ', '東京 timeout', '😀 disk', 'foo_bar foo.bar', 'a1b2', 'full disk', 'x'.repeat(300)],
] as const
export const LONGS: readonly unknown[] = [
  ...[0, 1, 2, 10, -1, -7, 100, 1.0, 4096, 2 ** 40, '3', ' 5', '1e3', '1.7', 2.9, -2.9, -0.5],
  ...['9007199254740991', '9007199254740992', '9007199254740993'].map(digits),
]
const SMALL: readonly unknown[] = [0, 1, 2, 5, 10, -1, -128, 127, '3', 2.9, -0.5]
const BIG: readonly unknown[] = [0, 1, 7, '12', ...['9007199254740993'].map(digits)]
export const DOUBLES: readonly unknown[] = [
  ...[0, -0, 0.1, 0.5, 1, 1.5, 2.25, -2.75, 1e3, 1e20, 1e-7, 123456.789, '3.25', '1e2', 3.4e38, 16777217, 0.30000000000000004],
  ...['9007199254740993', '1.10', '1E5'].map(digits),
]
export const DATES: readonly unknown[] = [
  ...['2026-01-02', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.123456789Z', '2026-03-29T01:30:00+01:00'],
  ...[
    '2026-03-29T00:59:59.999Z',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
    '2026',
    '2026-02',
    '2024-02-29',
    '2026-01-02T03',
    '2026-01-02T03:04',
  ],
  ...['2026-01-02T03:04:05,5Z', '2026-01-02T03:04:05+0530', '1969-12-31T23:59:59.999Z', '1767323045000', 1767323045000, 0, 86_400_000],
]
const NANO_DATES: readonly unknown[] = [
  ...[
    '2026-01-02T03:04:05.123456789Z',
    '2026-01-02T03:04:05.123456788Z',
    '2026-01-02T03:04:05.123Z',
    '2026-01-02',
    1767323045123,
    '1970-01-01T00:00:00.000000001Z',
  ],
]
const DAYS: readonly unknown[] = ['2026/01/02', '2026/03/29', '1969/12/31', 1767323045, '1767323045', 0]
export const ADDRESSES = [
  '10.0.0.1',
  '10.0.0.200',
  '192.168.1.1',
  '::1',
  '::ffff:10.0.0.1',
  '2001:db8::1',
  '2001:DB8:0:0::1',
  '0.0.0.0',
  '255.255.255.255',
]

const from = (values: readonly unknown[]) => fc.constantFrom<unknown>(...values)

/** One value mostly, else a list, nulls within it too, an empty one, or null. */
const member = (values: readonly unknown[]): fc.Arbitrary<unknown> => {
  const one = from(values)
  return fc.oneof(
    { weight: 10, arbitrary: one },
    { weight: 3, arbitrary: fc.array(one, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.tuple(one, one).map(([a, b]) => [a, null, [b, a]]) },
    { weight: 1, arbitrary: from([null, [], [null]]) },
  )
}

/** OpenSearch counts fewer texts without words than it finds (README of the search store). */
const WORDY = TEXTS.filter(text => text !== '' && text !== '...')

const BODY: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  kw: member([...KEYWORDS, 7, 1.5, true]),
  short_kw: member(KEYWORDS),
  low_kw: member(KEYWORDS),
  unindexed: member(['kept-a', 'kept-b']),
  txt: member([...WORDY, 42, false]),
  plain: member(WORDY),
  lng: member(LONGS),
  int: member(SMALL),
  byt: member(SMALL),
  big: member(BIG),
  dbl: member(DOUBLES),
  flt: member(DOUBLES.filter(value => value !== 1e20)),
  bool: member([true, false, 'true', 'false', '']),
  dat: member(DATES),
  nanos: member(NANO_DATES),
  day: member(DAYS),
  ip: member(ADDRESSES),
  flat: fc.constantFrom<unknown>({ a: 'x' }, { a: 'y', b: { c: 'x', d: 5 } }, { a: ['x', 'z'], 'b.c': 'w' }, {}, null, {
    e: true,
    f: null,
  }),
  obj: fc.constantFrom<unknown>(
    { a: 'x' },
    { a: ['x', 'y'], b: { c: 5 } },
    { 'b.c': 6 },
    [{ a: 'x' }, { a: 'z', b: { c: [7, 8] } }],
    {},
    null,
    [],
  ),
  // New fields, by dynamic mapping.
  dyn_text: member(['disk full', 'Cart', '2026-01-02x']),
  dyn_long: member([1, 2, 3, 2 ** 40]),
  dyn_double: member([0.5, 1.25, 99.75]),
  dyn_bool: member([true, false]),
  dyn_date: member(['2026-01-02', '2026-01-02T03:04:05Z']),
  'dots.in.name': member(['u-1', 'u-2']),
  dots: fc.constantFrom<unknown>({ in: { other: 'x' } }, { 'in.other': 'y' }, {}),
}

const FIRST_MS = Date.UTC(2026, 0, 1)
const HALF_HOUR_MS = 1_800_000

const document: fc.Arbitrary<Json> = fc.record(BODY, { requiredKeys: [] })

/** `n` and `@timestamp` differ for each, so that there is an order of all. */
export function typedDocuments(seed: number, count: number): readonly Json[] {
  return fc
    .sample(document, { seed, numRuns: count })
    .map((body, n) => ({ '@timestamp': new Date(FIRST_MS + n * HALF_HOUR_MS).toISOString(), n, ...body }))
}
