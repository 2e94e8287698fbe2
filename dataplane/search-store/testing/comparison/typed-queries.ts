/** Generated queries over the fields of the typed documents: each value may meet each field. */
import fc from 'fast-check'
import type { Json } from './compared-documents.ts'
import { queryTexts } from './query-texts.ts'
import { ADDRESSES, DATES, DOUBLES, KEYWORDS, LONGS, TEXTS } from './typed-documents.ts'

const WORD_FIELDS = ['kw', 'short_kw', 'low_kw', 'txt', 'plain', 'txt.raw', 'dyn_text', 'dyn_text.keyword', 'obj.a', 'dots.in.name.keyword']
export const NUMBER_FIELDS = ['lng', 'int', 'byt', 'big', 'dbl', 'flt', 'other', 'dyn_long', 'dyn_double', 'obj.b.c', 'n']
export const DATE_FIELDS = ['dat', 'nanos', 'day', '@timestamp', 'dyn_date']
const ODD_FIELDS = [
  'bool',
  'dyn_bool',
  'ip',
  'flat',
  'flat.a',
  'flat.b.c',
  'flat.b.d',
  'unindexed',
  'obj',
  'obj.b',
  'dots',
  'absent',
  'absent.deep',
  '_id',
  '_index',
]
export const ALL_FIELDS = [...WORD_FIELDS, ...NUMBER_FIELDS, ...DATE_FIELDS, ...ODD_FIELDS]

const of = <T>(values: readonly T[]) => fc.constantFrom(...values)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })

/** An object of the members that are not undefined. */
export const members = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>, always: readonly string[] = []): fc.Arbitrary<Json> =>
  fc
    .record(Object.fromEntries(Object.entries(model).map(([key, value]) => [key, always.includes(key) ? value : maybe(value)])))
    .map(record => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)))

const DATE_BOUNDS: readonly unknown[] = [
  ...DATES,
  '9999-12-31',
  ...[
    'now',
    'now-1d/d',
    'now/M',
    '2026-01-02||/d',
    '2026-01-02||+1M/M',
    '2026-01-02T03:04:05Z||-1h/h',
    '2026-01||/M',
    '2026||/y',
    '2026-01-02||/w',
  ],
  ...[
    '2026-01-02T24:00:00Z',
    '2026-13-01',
    '2026-1-2',
    'yesterday',
    '2026/01/02',
    '2026-01-02 03:04:05',
    '20260102',
    '-1',
    '1767323045000.5',
  ],
]

const word = fc.oneof(of(KEYWORDS), of(TEXTS), of(['disk', 'full', 'timeout', 'foo', 'İstanbul', 'i̇stanbul', 'STRASSE', '東']))
const anyValue = fc.oneof<fc.Arbitrary<unknown>[]>(
  word,
  of(LONGS),
  of(DOUBLES),
  of(DATE_BOUNDS),
  of(ADDRESSES),
  of<unknown>([true, false, 'true', 'TRUE']),
)

/** A value that belongs to the field, mostly. */
const valueFor = (field: string): fc.Arbitrary<unknown> => {
  const own: fc.Arbitrary<unknown> = NUMBER_FIELDS.includes(field)
    ? fc.oneof(of(LONGS), of(DOUBLES))
    : DATE_FIELDS.includes(field)
      ? of(DATE_BOUNDS)
      : field === 'ip'
        ? of([...ADDRESSES, '10.0.0.0/8', '10.0.0.0/33', '::/0', '10.0.0', '*'])
        : field.includes('bool')
          ? of<unknown>([true, false, 'true', 'false', '', 1, 'yes'])
          : field.startsWith('flat')
            ? of<unknown>(['x', 'y', 'w', 5, '5', true, 'true'])
            : word
  return fc.oneof({ weight: 14, arbitrary: own }, { weight: 1, arbitrary: anyValue })
}

const onField = (
  name: string,
  body: (field: string) => fc.Arbitrary<unknown>,
  fields: readonly string[] = ALL_FIELDS,
): fc.Arbitrary<Json> => of(fields).chain(field => body(field).map(content => ({ [name]: { [field]: content } })))

const PATTERNS = [
  '*',
  'a*',
  '*a',
  '?',
  '??',
  'a?b',
  'a\\*b',
  'A*',
  '*',
  'ca*t',
  'CA*',
  'dis?',
  '*ull',
  'a\\',
  'x*x',
  '😀',
  '?',
  '',
  'İ*',
  'stra?e',
  '10.*',
  '1*',
]
const REGEXES = [
  'a.*',
  'a|b',
  '[a-c]+',
  '.',
  '..',
  '',
  'a{1,2}',
  '(a|b)?',
  '[^a]',
  'x{30}',
  'disk',
  '\\d+',
  '\\w+',
  '😀',
  '.*',
  'a\\*b',
  '[',
  '(',
  'a**',
  '@',
  '"a"',
  'A',
  'ä',
]
const ZONES = ['+02:00', '-05:00', 'Europe/Berlin', 'America/New_York', 'UTC', 'Z', 'CET', 'Asia/Kolkata']
const FUZZINESS: readonly unknown[] = ['AUTO', 0, 1, 2, '1', 'auto', 'AUTO:2,4']

const bounds = (field: string) =>
  fc
    .tuple(of(['gte', 'gt', 'from', undefined]), of(['lte', 'lt', 'to', undefined]), valueFor(field), valueFor(field))
    .map(([low, high, min, max]) => ({ ...(low !== undefined && { [low]: min }), ...(high !== undefined && { [high]: max }) }))

const dateOptions = members({
  time_zone: of(ZONES),
  format: of(['yyyy-MM-dd', 'strict_date_optional_time', 'epoch_millis', 'epoch_second', 'yyyy/MM/dd', 'dd.MM.yyyy', 'basic_date', 'date']),
})

const MINIMUM: readonly unknown[] = [0, 1, 2, -1, '50%', '-25%', '2<75%', '1<-1 3<50%', 5]

/** Clauses stand alone: which one of several a store looks at first, and refuses, is its own affair. */
export const typedLeaves: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: onField('term', valueFor) },
  {
    weight: 1,
    arbitrary: onField('term', field => members({ value: valueFor(field), case_insensitive: fc.boolean(), boost: of([0, 2]) }, ['value'])),
  },
  { weight: 2, arbitrary: onField('terms', field => fc.array(valueFor(field), { maxLength: 3 })) },
  { weight: 4, arbitrary: onField('range', bounds) },
  {
    weight: 3,
    arbitrary: onField(
      'range',
      field => fc.tuple(bounds(field), dateOptions).map(([own, options]) => ({ ...own, ...options })),
      DATE_FIELDS,
    ),
  },
  { weight: 2, arbitrary: of([...ALL_FIELDS, 'dots.in', 'obj.b']).map(field => ({ exists: { field } })) },
  {
    weight: 1,
    arbitrary: onField('prefix', field => valueFor(field).map(value => (typeof value === 'string' ? value.slice(0, 2) : value))),
  },
  {
    weight: 1,
    arbitrary: onField('prefix', () => members({ value: of(['a', 'A', 'ä', 'İ', 'S', '']), case_insensitive: fc.boolean() }, ['value'])),
  },
  { weight: 2, arbitrary: onField('wildcard', () => of(PATTERNS)) },
  { weight: 1, arbitrary: onField('wildcard', () => members({ value: of(PATTERNS), case_insensitive: fc.boolean() }, ['value'])) },
  { weight: 1, arbitrary: onField('regexp', () => of(REGEXES)) },
  {
    weight: 1,
    arbitrary: onField('regexp', () =>
      members({ value: of(REGEXES), case_insensitive: fc.boolean(), flags: of(['ALL', 'NONE', 'COMPLEMENT|INTERVAL']) }, ['value']),
    ),
  },
  {
    weight: 1,
    arbitrary: onField('fuzzy', () =>
      members(
        {
          value: of(['cart', 'disc', 'ful', 'abcdxf', 'a', 'Straße']),
          fuzziness: of(FUZZINESS),
          prefix_length: of([0, 1, 3]),
          transpositions: fc.boolean(),
        },
        ['value'],
      ),
    ),
  },
  { weight: 2, arbitrary: onField('match', valueFor) },
  {
    weight: 2,
    arbitrary: onField('match', field =>
      members(
        {
          query: valueFor(field),
          operator: of(['and', 'or', 'AND']),
          minimum_should_match: of(MINIMUM),
          ...(!field.startsWith('flat') && { fuzziness: of(FUZZINESS) }),
          lenient: fc.boolean(),
          zero_terms_query: of(['all', 'none']),
          prefix_length: of([0, 2]),
        },
        ['query'],
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: onField('match_phrase', field =>
      fc.oneof(valueFor(field), members({ query: valueFor(field), slop: of([0, 1, 2, 10]) }, ['query'])),
    ),
  },
  { weight: 1, arbitrary: onField('match_phrase_prefix', valueFor) },
  { weight: 1, arbitrary: onField('match_bool_prefix', valueFor) },
  {
    weight: 1,
    arbitrary: members(
      {
        query: anyValue,
        fields: of([['txt', 'plain'], ['kw', 'txt^3'], ['*'], ['d*'], ['lng', 'dat', 'ip', 'bool'], ['absent'], ['txt.*']]),
        type: of(['best_fields', 'most_fields', 'phrase', 'phrase_prefix', 'bool_prefix', 'cross_fields']),
        operator: of(['and', 'or']),
        lenient: fc.boolean(),
        fuzziness: of([1, 'AUTO']),
        tie_breaker: of([0.3]),
        minimum_should_match: of(MINIMUM),
      },
      ['query'],
    ).map(multi_match => ({ multi_match })),
  },
  {
    weight: 5,
    arbitrary: members(
      {
        query: queryTexts,
        default_field: of(['txt', 'kw', '*', 'lng', 'dat', 'absent', 'd*']),
        default_operator: of(['AND', 'OR', 'and']),
        lenient: fc.boolean(),
        analyze_wildcard: fc.boolean(),
        allow_leading_wildcard: fc.boolean(),
        time_zone: of(['+02:00', 'America/New_York']),
        minimum_should_match: of(MINIMUM),
        phrase_slop: of([0, 1, 5]),
        fuzziness: of(FUZZINESS),
        type: of(['best_fields', 'most_fields']),
        escape: fc.boolean(),
      },
      ['query'],
    ).map(query_string => ({ query_string: query_string })),
  },
  { weight: 5, arbitrary: queryTexts.map(query => ({ query_string: { query, analyze_wildcard: true } })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(queryTexts, of([['txt', 'plain'], ['kw', 'txt^3'], ['lng', 'txt'], ['*'], ['t*', 'plain'], ['dat']]), maybe(fc.boolean()))
      .map(([query, fields, lenient]) => ({ query_string: { query, fields, ...(lenient !== undefined && { lenient }) } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(queryTexts, of([['txt', 'plain'], ['kw'], ['lng', 'txt'], ['*']]), of(['and', 'or']))
      .map(([query, fields, default_operator]) => ({ simple_query_string: { query, fields, default_operator } })),
  },
)
