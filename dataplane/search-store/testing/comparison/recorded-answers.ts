/** Searches whose answers OpenSearch 3.5 was seen to give: the embedded store gives the same, with and without one beside it. */
import type { Json } from './compared-documents.ts'

export const RECORDED_MAPPING = {
  properties: {
    kw: { type: 'keyword' },
    number_kw: { type: 'keyword' },
    unindexed: { type: 'keyword', index: false },
    txt: { type: 'text' },
    lng: { type: 'long' },
    big: { type: 'unsigned_long' },
    byt: { type: 'byte' },
    flt: { type: 'float' },
    dbl: { type: 'double' },
    bool: { type: 'boolean' },
    dat: { type: 'date' },
    ip: { type: 'ip' },
    flat: { type: 'flat_object' },
    obj: { properties: { a: { type: 'keyword' }, c: { type: 'long' } } },
  },
} as const

/** JSON as it is sent: doubles do not hold some of the numbers. */
export const RECORDED_DOCUMENTS: readonly string[] = [
  '{"kw":["b","a","b"],"lng":[3,1,2,2],"flt":0.1,"txt":"disk full","dat":"2026-01-02T03:04:05Z","obj":[{"a":"x"},{"a":"z","c":7}]}',
  '{"kw":"\\uffff","lng":9007199254740993,"bool":true,"dbl":2,"ip":["::FFFF:10.0.0.1","2001:DB8:0:0::1","10.0.0.1"],"unindexed":"u"}',
  '{"kw":"😀","number_kw":9007199254740992,"lng":-3,"big":18446744073709551615,"bool":false,"txt":"t star","byt":5}',
  '{"kw":"","number_kw":[9007199254740993,1.10,1e3],"lng":5,"big":9007199254740993,"txt":"<10","dat":"2026-01-03","obj":{"c":1},"flat":{"os":"linux","on":true}}',
]

export interface RecordedAnswer {
  readonly title: string
  readonly body: Json
  /** A member of the answer by its path; the numbers of the documents that were found where there is none. */
  readonly at?: string
  /** Large numbers as their digits. */
  readonly is: unknown
}

const found = (title: string, query: Json, ...is: readonly number[]): RecordedAnswer => ({ title, body: { query }, is })
const text = (query: string, options: Json, ...is: readonly number[]): RecordedAnswer =>
  found(`the text ${query} ${JSON.stringify(options)}`, { query_string: { query, ...options } }, ...is)
const fields = (document: number, part: Json, is: unknown): RecordedAnswer => ({
  title: `document ${document} with ${JSON.stringify(part)}`,
  body: { query: { ids: { values: [String(document)] } }, _source: false, ...part },
  at: 'hits.hits.0.fields',
  is,
})
/** Buckets with the number of keywords below them. */
const composite = (title: string, query: Json, sources: readonly Json[], is: unknown): RecordedAnswer => ({
  title,
  body: {
    ...query,
    size: 0,
    aggs: {
      c: { composite: { sources: sources.map((source, at) => ({ [`s${at}`]: source })) }, aggs: { v: { value_count: { field: 'kw' } } } },
    },
  },
  at: 'aggregations.c.buckets',
  is,
})
const OBJECT_CLAUSES: readonly Json[] = [
  ...[{ match: { obj: 'x' } }, { term: { obj: 'x' } }, { range: { obj: { gte: 'a' } } }, { prefix: { obj: 'x' } }],
  ...[{ wildcard: { obj: '*' } }, { regexp: { obj: '.*' } }, { fuzzy: { obj: 'x' } }, { match_phrase: { obj: 'x' } }],
]
const HOURS_MS = 3_600_000
const THIRD_OF_JANUARY = 1_767_323_045_000

export const RECORDED_ANSWERS: readonly RecordedAnswer[] = [
  ...OBJECT_CLAUSES.map(clause => found(`an object has no values for ${JSON.stringify(clause)}`, clause)),
  found('a prefix of words in a field of numbers is its value', { match_bool_prefix: { byt: 5 } }, 2),
  found('a number that a byte does not hold, and an integer does', { term: { byt: 4096 } }),
  found('exists of what is not indexed', { exists: { field: 'unindexed' } }, 1),
  found('a fraction beside a bound that doubles do not hold', { range: { lng: { gte: -2.9, lte: '-9223372036854775808' } } }),
  found('a fraction below a bound that doubles do not hold', { range: { lng: { gt: -3.5, lte: '9007199254740993' } } }, 0, 1, 2, 3),
  found('texts by their code points', { range: { kw: { gt: '\uffff' } } }, 2),
  found('texts below, by their code points', { range: { kw: { lt: '😀', gte: 'c' } } }, 1),
  found('milliseconds move with the time zone', { range: { dat: { gte: THIRD_OF_JANUARY, time_zone: '+01:00' } } }, 0, 3),
  found('and so do later ones', { range: { dat: { gte: THIRD_OF_JANUARY + HOURS_MS, time_zone: '+01:00' } } }, 0, 3),
  found('an escaped star of a simple text', { simple_query_string: { query: 't\\*', fields: ['txt'] } }, 2),
  found('a number beyond 2^53 in a keyword field', { term: { number_kw: '9007199254740993' } }, 3),
  found('the number beside it', { term: { number_kw: '9007199254740992' } }, 2),
  found('a number in a keyword field is what was written', { term: { number_kw: '1.10' } }, 3),
  found('and nothing else', { terms: { number_kw: ['1.1', '1000'] } }),
  found('by a pattern, too', { wildcard: { number_kw: '1e?' } }, 3),
  {
    title: 'groups of numbers in a keyword field',
    body: { size: 0, aggs: { k: { terms: { field: 'number_kw', order: { _key: 'asc' } } } } },
    at: 'aggregations.k.buckets',
    is: ['1.10', '1e3', '9007199254740992', '9007199254740993'].map(key => ({ key, doc_count: 1 })),
  },
  fields(3, { docvalue_fields: ['number_kw'] }, { number_kw: ['1.10', '1e3', '9007199254740993'] }),
  { title: 'no total', body: { size: 0, track_total_hits: -1 }, at: 'hits.total', is: undefined },
  { title: 'a total of none', body: { size: 0, track_total_hits: 0 }, at: 'hits.total', is: { value: 0, relation: 'gte' } },
  found('an empty wildcard', { wildcard: { kw: '' } }),
  {
    title: 'keys of fractions together',
    body: { size: 0, aggs: { k: { multi_terms: { terms: [{ field: 'dbl' }, { field: 'bool' }] } } } },
    at: 'aggregations.k.buckets.0.key_as_string',
    is: '2.0|true',
  },
  fields(0, { docvalue_fields: [{ field: 'dat', format: 'epoch_second' }] }, { dat: ['1767323045'] }),
  {
    title: 'a number for a missing text',
    body: { _source: false, size: 1, sort: [{ unindexed: { missing: 5 } }, 'lng'] },
    at: 'hits.hits.0.sort',
    is: ['5', -3],
  },
  {
    title: 'a text for a missing date',
    body: { _source: false, size: 1, sort: [{ dat: { missing: '5' } }, 'lng'] },
    at: 'hits.hits.0.sort',
    is: [5, -3],
  },
  text('true', {}, 1, 3),
  text('linux', {}, 3),
  text('lin*', {}, 3),
  text('linux', { fields: ['fla*'] }, 3),
  found('any field of a text', { multi_match: { query: 'linux' } }, 3),
  found('any field of a simple text', { simple_query_string: { query: 'linux' } }, 3),
  text('lng:>2', {}, 0, 1, 3),
  text('<0', { default_field: 'lng' }, 2),
  text('lng:(>4 AND <6)', {}, 3),
  text('lng:> 5', { lenient: true, default_field: 'lng' }, 3),
  text('>=', { default_field: 'kw' }, 0, 1, 2),
  text('disk <10', { default_field: 'txt' }, 0, 3),
  text('txt:\\u0064isk', {}, 0),
  text('txt:"\\u0064isk full"', {}, 0),
  text('kw:a', { escape: true, default_field: 'kw' }),
  text('disk', { allow_leading_wildcard: false }, 0),
  fields(0, { docvalue_fields: ['kw', 'lng', 'flt'] }, { kw: ['a', 'b'], lng: [1, 2, 2, 3], flt: [0.10000000149011612] }),
  fields(0, { fields: ['kw', 'lng', 'flt'] }, { kw: ['b', 'a', 'b'], lng: [3, 1, 2, 2], flt: [0.1] }),
  fields(1, { fields: ['lng', 'ip'] }, { lng: ['9007199254740993'], ip: ['10.0.0.1', '2001:db8::1', '10.0.0.1'] }),
  fields(1, { docvalue_fields: ['lng', 'ip'] }, { lng: ['9007199254740993'], ip: ['10.0.0.1', '2001:db8::1'] }),
  fields(2, { docvalue_fields: ['big'] }, { big: ['18446744073709551615'] }),
  {
    title: 'objects of a list of which nothing is left',
    body: { query: { ids: { values: ['0'] } }, _source: { excludes: ['obj.a'] } },
    at: 'hits.hits.0._source.obj',
    is: [{ c: 7 }],
  },
  {
    title: 'keys of a summary that doubles do not hold',
    body: { size: 0, aggs: { b: { terms: { field: 'big', order: { _key: 'asc' } } }, s: { max_bucket: { buckets_path: 'b>_count' } } } },
    at: 'aggregations.s.keys',
    is: ['9007199254740993', '18446744073709551615'],
  },
  {
    title: 'digits of rare numbers that have no sign',
    body: { size: 0, query: { range: { big: { lte: '9007199254740993' } } }, aggs: { b: { rare_terms: { field: 'big' } } } },
    at: 'aggregations.b.buckets',
    is: [{ key: '9007199254740993', key_as_string: '9007199254740993', doc_count: 1 }],
  },
  {
    title: 'ranges of dates in a time zone',
    body: {
      size: 0,
      aggs: { d: { date_range: { field: 'dat', time_zone: '+01:00', ranges: [{ from: '2026-01-03', to: '2026-01-04' }] } } },
    },
    at: 'aggregations.d.buckets.0',
    is: {
      key: '2026-01-03T00:00:00.000+01:00-2026-01-04T00:00:00.000+01:00',
      from: Date.UTC(2026, 0, 2, 23),
      from_as_string: '2026-01-03T00:00:00.000+01:00',
      to: Date.UTC(2026, 0, 3, 23),
      to_as_string: '2026-01-04T00:00:00.000+01:00',
      doc_count: 1,
    },
  },
  {
    title: 'bounds of a histogram with an offset',
    body: {
      size: 0,
      aggs: {
        h: {
          date_histogram: {
            ...{ field: 'dat', fixed_interval: '6h', offset: '+1h', min_doc_count: 0 },
            extended_bounds: { min: '2026-01-01', max: '2026-01-03' },
          },
        },
      },
    },
    at: 'aggregations.h.buckets.0.key_as_string',
    is: '2026-01-01T01:00:00.000Z',
  },
  {
    title: 'terms in the order of their code points',
    body: { size: 0, aggs: { k: { terms: { field: 'kw', order: { _key: 'desc' }, size: 2 } } } },
    at: 'aggregations.k.buckets',
    is: [
      { key: '😀', doc_count: 1 },
      { key: '\uffff', doc_count: 1 },
    ],
  },
  {
    title: 'bars between others have no mean to be ordered by, and come last',
    body: {
      size: 0,
      query: { range: { lng: { lt: 6 } } },
      aggs: { h: { histogram: { field: 'lng', interval: 2, order: { m: 'asc' } }, aggs: { m: { avg: { field: 'lng' } } } } },
    },
    at: 'aggregations.h.buckets',
    is: [
      [-4, 1, -3],
      [0, 1, 2],
      [2, 1, 2],
      [4, 1, 5],
      [-2, 0, null],
    ].map(([key, doc_count, value]) => ({ key, doc_count, m: { value } })),
  },
  composite(
    'a document counts for each of its numbers in a composite, equal ones too, and so it does below',
    { query: { range: { lng: { lt: 4 } } } },
    [{ terms: { field: 'lng' } }],
    [
      [-3, 1, 1],
      [1, 1, 2],
      [2, 2, 4],
      [3, 1, 2],
    ].map(([key, doc_count, value]) => ({ key: { s0: key }, doc_count, v: { value } })),
  ),
  composite(
    'a document counts for each of its numbers that one bar of a composite holds',
    { query: { ids: { values: ['0'] } } },
    [{ histogram: { field: 'lng', interval: 10 } }],
    [{ key: { s0: 0 }, doc_count: 4, v: { value: 8 } }],
  ),
  composite(
    'a keyword that a document holds twice counts once in a composite',
    { query: { ids: { values: ['0'] } } },
    [{ terms: { field: 'kw' } }, { terms: { field: 'flt' } }],
    ['a', 'b'].map(key => ({ key: { s0: key, s1: 0.10000000149011612 }, doc_count: 1, v: { value: 2 } })),
  ),
  {
    title: 'a text that stands for a missing number',
    body: { query: { match_all: {} }, sort: [{ byt: { order: 'desc', missing: '7' } }, { lng: { mode: 'min' } }], _source: false, size: 1 },
    at: 'hits.hits.0.sort',
    is: [7, 1],
  },
]

/** The part of an answer that a recorded one names; large numbers as their digits. */
export function partOf(text: string, at: string | undefined): unknown {
  const answer = JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value,
  )
  if (at === undefined)
    return answer.hits === undefined
      ? text
      : answer.hits.hits.map(({ _id }: { readonly _id: string }) => Number(_id)).sort((a: number, b: number) => a - b)
  return at.split('.').reduce((part, key) => part?.[key], answer)
}
