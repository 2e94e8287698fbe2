/** Generated queries over the fields of the compared documents: values that are there, values that are not, and such as do not fit. */
import fc from 'fast-check'
import { type Json, LEVELS, message, OWN_INDEX, SERVICES, WORDS } from './compared-documents.ts'

const word = fc.constantFrom(...WORDS)
const KEYWORD_FIELDS = [
  'service',
  'level',
  'host',
  'tenant_id',
  'trace_id',
  'user.id',
  'http.route',
  'tags',
  'note',
  'long_text',
  'empty',
  'attributes.service.version',
  'attributes.host.os.name',
  'title.keyword',
  'author.name.keyword',
  'labels.keyword',
  'absent',
]
const TEXT_FIELDS = ['message', 'title', 'author.name', 'labels']
const NUMBER_FIELDS = [
  'severity_number',
  'nanos',
  'http.status_code',
  'duration_ms',
  'retries',
  'ratio',
  'big',
  'counts',
  'anomaly_score',
  'views',
  'price',
  'author.age',
]
const DATE_FIELDS = ['timestamp', 'created']
const BOOLEAN_FIELDS = ['is_anomaly', 'is_cached', 'published']

const of = (fields: readonly string[]) => fc.constantFrom(...fields)
const anyField = of([
  ...KEYWORD_FIELDS,
  ...TEXT_FIELDS,
  ...NUMBER_FIELDS,
  ...DATE_FIELDS,
  ...BOOLEAN_FIELDS,
  'attributes',
  'http',
  'author',
  'pattern',
  '_id',
  '_index',
])
const keyword = fc.constantFrom(
  ...SERVICES,
  ...LEVELS,
  'pod-1',
  'acme',
  'u-2',
  '/cart',
  '/a b',
  'red',
  '1.0',
  'linux',
  'Bob Lee',
  'y z',
  '',
  'x'.repeat(1_024),
  'x'.repeat(1_025),
  'nothing',
)
const number = fc.constantFrom<unknown>(0, 1, 5, 12, 12.25, 0.1, 3.1, 200, -2.75, 99.99, '404', '1.5', 1e3)
const pattern = fc.constantFrom(
  'p*',
  '*t',
  'pod-?',
  '*',
  'c*t',
  'ERR*',
  'err*',
  'time*',
  '?1',
  'x*y*z',
  '*a*',
  'u-\\*',
  '/cart*',
  '??',
  'java*',
)
const prefix = fc.constantFrom('p', 'P', 'pod', 'ti', '', '/ca', 'u-', 'con', 'java.lang')
const operator = fc.constantFrom('and', 'or', 'AND')
const minimum = fc.constantFrom<unknown>(0, 1, 2, -1, '50%', '-25%', '2<75%', 3)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })

/** An object of the members that are not undefined. */
const members = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>, always: readonly string[] = []) =>
  fc
    .record(Object.fromEntries(Object.entries(model).map(([key, value]) => [key, always.includes(key) ? value : maybe(value)])))
    .map(record => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Json)

const on = (name: string, field: fc.Arbitrary<string>, body: fc.Arbitrary<unknown>): fc.Arbitrary<Json> =>
  fc.tuple(field, body).map(([path, content]) => ({ [name]: { [path]: content } }))

const date = fc.constantFrom<unknown>(
  'now-30m',
  'now-1h',
  'now-6h',
  'now-1d',
  'now-36h/d',
  'now/d',
  'now-1d/d',
  'now+1d',
  'now-2w/w',
  '2026-01-02',
  '2026-01-02T03:04:05Z',
  '2026-01-02T03:04:05.000Z||+1d/M',
  '2026',
  1767323045000,
  '1767323045000',
)
const bounds = (value: fc.Arbitrary<unknown>) =>
  fc.tuple(fc.constantFrom('gte', 'gt', undefined), fc.constantFrom('lte', 'lt', undefined), value, value).map(([low, high, min, max]) => ({
    ...(low !== undefined && { [low]: min }),
    ...(high !== undefined && { [high]: max }),
  }))

const zone = fc.constantFrom('+02:00', 'Europe/Berlin', 'UTC')

const queryStringWord = fc.oneof(
  word.map(text => text.replaceAll(/[+\-=&|><!(){}[\]^"~*?:\\/]/g, match => `\\${match}`)),
  fc.constantFrom(
    'timeout',
    'disk',
    '4711',
    'err*',
    '?ain',
    '"connection refused"',
    '"disk full"~2',
    'level:ERROR',
    'service:pay*',
    '_exists_:note',
    'retries:>5',
    'retries:[1 TO 9}',
    'http.status_code:404',
    'is_anomaly:true',
    'tags:(red OR blue)',
    'timestamp:[now-1d TO now]',
    'user.id:"u-1"',
    'message:(disk full)',
    'timeout^2',
    '(disk OR full)',
    'absent:x',
    '- refused',
    '\\:',
    '"--"',
    '*',
  ),
)
/** Words joined by operators. */
const queryString = fc
  .array(fc.tuple(fc.constantFrom('', 'AND ', 'OR ', 'NOT ', 'AND NOT ', '+', '-', '&& ', '|| ', '!'), queryStringWord), {
    minLength: 1,
    maxLength: 4,
  })
  .map(parts => parts.map(([joint, text], at) => (at === 0 ? joint.replace(/^(AND|OR|&&|\|\|) ?/, '') : joint) + text).join(' '))
const simpleQueryString = fc
  .array(
    fc.tuple(
      fc.constantFrom('', '+', '-', '| ', '+ '),
      fc.constantFrom(
        'timeout',
        'disk',
        '4711',
        'err*',
        '"connection refused"',
        '"disk full"~2',
        '(disk | full)',
        'ERROR',
        'cart',
        'pod-1',
        "can't",
        '10.0.0.7:8080',
        'ti*',
        '\\*',
        '.',
        '".."',
        '(',
        '"',
        '-',
      ),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map(parts => parts.map(([joint, text]) => joint + text).join(' '))

const stringFields = fc.oneof(
  fc.constantFrom(
    ['message'],
    ['message^2', 'service'],
    ['level', 'host'],
    ['message', 'title'],
    ['m*'],
    ['http.*'],
    ['trace*'],
    ['title', 'message'],
    ['retries', 'message'],
  ),
)
const stringOptions = {
  fields: stringFields,
  default_operator: operator,
  lenient: fc.constant(true),
  minimum_should_match: minimum,
  analyze_wildcard: fc.boolean(),
}
/** A word for a number is an error of the index, which others may not have. */
const lenientOnNumbers = (query: Json): Json =>
  JSON.stringify(query['fields'] ?? '').includes('retries') ? { ...query, lenient: true } : query

const LEAVES: readonly fc.Arbitrary<Json>[] = [
  fc.constantFrom<Json>({ match_all: {} }, { match_none: {} }),
  on('match', of([...TEXT_FIELDS, ...KEYWORD_FIELDS]), message),
  on(
    'match',
    of(TEXT_FIELDS),
    members({ query: message, operator, minimum_should_match: minimum, zero_terms_query: fc.constantFrom('all', 'none') }, ['query']),
  ),
  on('match', of(NUMBER_FIELDS), number),
  on('match', of(BOOLEAN_FIELDS), fc.boolean()),
  on('match', of(NUMBER_FIELDS), members({ query: keyword, lenient: fc.constant(true) }, ['query', 'lenient'])),
  on('match_phrase', of(TEXT_FIELDS), fc.oneof(message, members({ query: message, slop: fc.constantFrom(0, 1, 2, 5) }, ['query']))),
  on('match_phrase_prefix', of(TEXT_FIELDS), fc.oneof(message, fc.constantFrom('disk fu', 'connection re', 'ti', 'timed o'))),
  on(
    'term',
    of(KEYWORD_FIELDS),
    fc.oneof(keyword, members({ value: keyword, case_insensitive: fc.boolean(), boost: fc.constant(2) }, ['value'])),
  ),
  on('term', of(TEXT_FIELDS), word),
  on('term', of(NUMBER_FIELDS), number),
  on('term', of(BOOLEAN_FIELDS), fc.constantFrom<unknown>(true, false, 'true', 'false')),
  on('term', of(DATE_FIELDS), date),
  on('terms', of([...KEYWORD_FIELDS, ...TEXT_FIELDS]), fc.array(keyword, { maxLength: 4 })),
  on('terms', of(NUMBER_FIELDS), fc.array(number, { maxLength: 4 })),
  on('range', of(NUMBER_FIELDS), bounds(number)),
  on('range', of(DATE_FIELDS), bounds(date)),
  on(
    'range',
    of(DATE_FIELDS),
    fc.tuple(bounds(date), maybe(zone)).map(([body, time_zone]) => ({ ...body, ...(time_zone !== undefined && { time_zone }) })),
  ),
  on('range', of(['service', 'host', 'level', 'user.id', 'message', 'attributes.service.version']), bounds(keyword)),
  anyField.map(field => ({ exists: { field } })),
  on(
    'prefix',
    of([...KEYWORD_FIELDS, ...TEXT_FIELDS]),
    fc.oneof(prefix, members({ value: prefix, case_insensitive: fc.boolean() }, ['value'])),
  ),
  on(
    'wildcard',
    of([...KEYWORD_FIELDS, ...TEXT_FIELDS]),
    fc.oneof(pattern, members({ value: pattern, case_insensitive: fc.boolean() }, ['value'])),
  ),
  fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 5 }).map(ids => ({ ids: { values: ids.map(id => `doc-${id}`) } })),
  fc.constantFrom<Json>(
    { term: { _id: 'doc-7' } },
    { terms: { _index: [OWN_INDEX] } },
    { prefix: { _index: 'compare-' } },
    { term: { _index: 'nothing' } },
  ),
  members(
    {
      query: message,
      fields: stringFields,
      type: fc.constantFrom('best_fields', 'most_fields', 'phrase', 'phrase_prefix'),
      operator,
      lenient: fc.constant(true),
    },
    ['query', 'fields', 'lenient'],
  ).map(multi_match => ({ multi_match })),
  members({ query: queryString, ...stringOptions }, ['query']).map(query => ({ query_string: lenientOnNumbers(query) })),
  members({ query: queryString, ...stringOptions }, ['query']).map(query => ({ query_string: lenientOnNumbers(query) })),
  members({ query: simpleQueryString, ...stringOptions }, ['query']).map(query => ({ simple_query_string: lenientOnNumbers(query) })),
]

/** Values that do not fit their fields. They stand alone: which clause of many an index looks at first is its own affair. */
export const misfits: fc.Arbitrary<Json> = fc.oneof(
  on('match', of([...NUMBER_FIELDS, ...BOOLEAN_FIELDS, ...DATE_FIELDS]), fc.constantFrom<unknown>('', 'x', true, 3)),
  on(
    'term',
    of(['severity_number', 'retries', 'is_anomaly', 'timestamp', 'anomaly_score']),
    fc.constantFrom<unknown>('', 'x', true, 9007199254740991, 2 ** 40, '1e400'),
  ),
  on(
    'range',
    of(['severity_number', 'retries', 'is_anomaly', 'timestamp', 'anomaly_score']),
    bounds(fc.constantFrom<unknown>('x', true, 2 ** 40, -5, 'now-1x', '2026-13-01', '')),
  ),
  on('terms', of(['severity_number', 'is_anomaly', 'timestamp']), fc.constantFrom<unknown>([], ['x'], [1, true], 'x')),
  on('match_phrase_prefix', of([...KEYWORD_FIELDS, ...NUMBER_FIELDS, ...DATE_FIELDS]), keyword),
  on('match_phrase', of([...KEYWORD_FIELDS, ...NUMBER_FIELDS, ...DATE_FIELDS]), keyword),
  on('prefix', of([...NUMBER_FIELDS, ...DATE_FIELDS]), prefix),
  on('wildcard', of([...NUMBER_FIELDS, ...BOOLEAN_FIELDS]), pattern),
  fc.constantFrom<Json>(
    { term: { service: null } },
    { term: { service: ['a'] } },
    { term: {} },
    { term: { service: 'a', level: 'b' } },
    { terms: { service: 'a' } },
    { range: { timestamp: { from: 'now-1d', to: 'now' } } },
    { range: { timestamp: { gte: null } } },
    { range: { timestamp: { gte: 'now', nonsense: 1 } } },
    { range: { timestamp: { gte: 'now-1d', time_zone: 'Mars' } } },
    { match: { message: null } },
    { match: { message: { query: 'x', operator: 'xor' } } },
    { exists: {} },
    { exists: { field: '' } },
    { exists: { field: 'http*' } },
    { ids: { values: 'doc-1' } },
    { ids: {} },
    { prefix: { service: 5 } },
    { wildcard: { service: { wildcard: 'c*' } } },
    { bool: { must: 'x' } },
    { bool: { unknown: [] } },
    { bool: { must: [{}] } },
    { bool: { must: {} } },
    { bool: { must: null } },
    { constant_score: {} },
    { match_all: { x: 1 } },
    { query_string: {} },
    { query_string: { query: '' } },
    { query_string: { query: 'a AND' } },
    { query_string: { query: '(a' } },
    { query_string: { query: 'a)' } },
    { query_string: { query: '"a' } },
    { query_string: { query: 'a:' } },
    { query_string: { query: 'ht*:*' } },
    { query_string: { query: 'NOT \\:' } },
    { query_string: { query: '- -', fields: ['message'] } },
    { simple_query_string: { query: '-.', fields: ['message'] } },
    { match_phrase: { message: { query: '..', zero_terms_query: 'all' } } },
    { query_string: { query: 'retries:x' } },
    { query_string: { query: 'retries:x', lenient: true } },
    { query_string: { query: 'timestamp:[x TO y]' } },
    { query_string: { query: 'a', fields: [] } },
    { query_string: { query: 'a', default_field: 'message', fields: ['service'] } },
    { simple_query_string: {} },
    { simple_query_string: { query: 5 } },
    { multi_match: { query: 'x', type: 'nonsense' } },
    { multi_match: { fields: ['message'] } },
    { nonsense: {} },
    {},
    { term: { service: 'a' }, match_all: {} },
  ),
)

/** Nested up to four levels. */
export const comparedQueries: fc.Arbitrary<Json> = fc.letrec<{ query: Json }>(tie => {
  const clauses = (maxLength: number) => fc.array(tie('query'), { maxLength })
  return {
    query: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      ...LEAVES.map(arbitrary => ({ arbitrary, weight: 1 })),
      {
        arbitrary: members({
          must: clauses(2),
          filter: clauses(2),
          should: clauses(3),
          must_not: clauses(2),
          minimum_should_match: minimum,
        }).map(bool => ({ bool })),
        weight: 10,
      },
      { arbitrary: tie('query').map(filter => ({ constant_score: { filter, boost: 2 } })), weight: 1 },
    ),
  }
}).query
