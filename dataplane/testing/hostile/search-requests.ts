/** Requests to the search store that nobody should send: each has an answer, none may cost others anything. */
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { comparedRequests, misfitRequests } from '../../search-store/testing/comparison/compared-requests.ts'

export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The hostile part of the request, in words. */
  readonly note: string
}

/** Today's, which others write to meanwhile. */
const LOGS = `service-logs-${new Date().toISOString().slice(0, 10).replaceAll('-', '.')}`
const PROTOTYPE_NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', 'isPrototypeOf', 'prototype']
const FIELDS = [
  'message',
  'service',
  'level',
  'timestamp',
  'title',
  'nanos',
  'attributes',
  'attributes.a',
  '*',
  '_id',
  '_index',
  'absent',
  ...PROTOTYPE_NAMES,
]
const JSON_TYPE = { 'content-type': 'application/json' }

/** Without end; the same seed gives the same requests, on the same day. Wire sizes stay below 1 MiB or little above, what they mean may be far more. */
export function* hostileSearchRequests(seed: number): Generator<HostileRequest, never, undefined> {
  const random = createRandom(seed)
  for (;;) {
    const make = random.pick(KINDS)
    yield make(random)
  }
}

interface Random {
  /** 0 ≤ n < `end`. */
  below(end: number): number
  pick<T>(items: readonly T[]): T
  isChance(share: number): boolean
}

function createRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return { below, pick: items => items[below(items.length)]!, isChance: share => next() < share }
}

type Maker = (random: Random) => HostileRequest

const search = (body: unknown, note: string, path = `/${LOGS}/_search`): HostileRequest => ({
  method: 'POST',
  path,
  headers: JSON_TYPE,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  note,
})

const get = (path: string, note: string): HostileRequest => ({ method: 'GET', path, headers: {}, body: Buffer.alloc(0), note })

/** `count` items made one by one. */
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_none, at) => make(at))

/** A count that is mostly small and now and then far too large. */
const count = (random: Random, most: number): number => (random.isChance(0.5) ? 1 + random.below(20) : 1 + random.below(most))

const nest = (depth: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown => {
  let value = innermost
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

function junk(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => -1,
    () => 1e308,
    () => 2 ** 53 + random.below(9),
    () => 0.1,
    () => '',
    () => ' ',
    () => '*'.repeat(1 + random.below(300)),
    () => 'x'.repeat(random.below(20_000)),
    () => '\ud800',
    () => '\u0000',
    () => random.pick(PROTOTYPE_NAMES),
    () => [],
    () => ({}),
    () => times(count(random, 2000), at => at),
    () => nest(1 + random.below(400), inner => ({ a: inner }), 1),
    () => nest(1 + random.below(400), inner => [inner], 1),
    () => Object.fromEntries(PROTOTYPE_NAMES.map(name => [name, 1])),
  ])()
}

/** A copy with one of its parts exchanged, renamed, doubled or gone. */
function mutated(random: Random, value: unknown, share = 0.15): unknown {
  if (random.isChance(share / 3)) return junk(random)
  if (Array.isArray(value)) {
    const items = value.map(item => mutated(random, item, share))
    return random.isChance(share / 4) ? times(count(random, 500), () => items[0]) : items
  }
  if (typeof value !== 'object' || value === null) return random.isChance(share) ? junk(random) : value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      if (random.isChance(share / 6)) return []
      const key = random.isChance(share / 4) ? random.pick([...PROTOTYPE_NAMES, ...FIELDS, 'x'.repeat(600), '']) : name
      return [[key, mutated(random, member, share)]]
    }),
  )
}

function sampled<T>(random: Random, arbitrary: fc.Arbitrary<T>): T {
  return fc.sample(arbitrary, { numRuns: 1, seed: random.below(2 ** 31) })[0]!
}

const mutatedSearch: Maker = random => {
  const { path, body } = sampled(random, random.isChance(0.5) ? comparedRequests : misfitRequests)
  return search(mutated(random, body), 'a valid search with parts exchanged', random.isChance(0.5) ? path : `/${LOGS}/_search`)
}

const deepQuery: Maker = random => {
  const depth = count(random, 1200)
  const wrap = random.pick<(inner: unknown) => unknown>([
    inner => ({ bool: { must: [inner] } }),
    inner => ({ bool: { must_not: [inner, inner] } }),
    inner => ({ constant_score: { filter: inner } }),
    inner => ({ bool: { should: [inner], minimum_should_match: '-50%' } }),
  ])
  // A value that is doubled at each level is kept shallow: its text would double, too.
  const isDoubled = JSON.stringify(wrap(0)).includes('0,0')
  return search({ query: nest(isDoubled ? depth % 14 : depth, wrap, { match_all: {} }) }, 'clauses inside clauses')
}

const wideQuery: Maker = random => {
  const field = random.pick(FIELDS)
  const clause = random.pick<(at: number) => unknown>([
    at => ({ query_string: { query: `word${at} other${at}` } }),
    at => ({ wildcard: { [field]: `*${at}*a?b*` } }),
    at => ({ match_phrase: { [field]: { query: `request ${at} took`, slop: at % 50 } } }),
    at => ({ range: { [field]: { gte: at } } }),
    at => ({ prefix: { [field]: String(at) } }),
    at => ({ exists: { field: `${field}${at % 3 === 0 ? '*' : ''}` } }),
    at => ({ multi_match: { query: `a b c ${at}`, fields: ['*', `${field}^${at}`] } }),
  ])
  const kind = random.pick(['must', 'should', 'must_not', 'filter'])
  return search({ query: { bool: { [kind]: times(count(random, 1100), clause) } } }, 'many clauses')
}

const longText: Maker = random => {
  const unit = random.pick([
    'a ',
    '(',
    '"',
    'a* ',
    'a:',
    '+-',
    '\\',
    'a~2 ',
    '[a TO b] ',
    '😀',
    'é',
    '_',
    'a.b.',
    '1,5 ',
    '* ',
    '? ',
    'a OR ',
  ])
  const text = unit.repeat(count(random, 200_000 / unit.length))
  const field = random.pick(FIELDS)
  return search(
    random.pick<() => unknown>([
      () => ({ query: { query_string: { query: text } } }),
      () => ({ query: { simple_query_string: { query: text, fields: ['*'] } } }),
      () => ({ query: { match: { [field]: text } } }),
      () => ({ query: { match_phrase: { [field]: { query: text, slop: random.below(1001) } } } }),
      () => ({ query: { match_phrase_prefix: { [field]: text } } }),
      () => ({ query: { multi_match: { query: text, type: random.pick(['best_fields', 'most_fields', 'phrase', 'phrase_prefix']) } } }),
      () => ({ query: { wildcard: { [field]: text.slice(0, 1000) } } }),
      () => ({ query: { term: { [field]: text } } }),
      () => ({ query: { range: { timestamp: { gte: `now${'+1d'.repeat(text.length % 2000)}` } } } }),
      () => ({ query: { match: { message: 'timeout' } }, highlight: { pre_tags: [text], fields: { '*': { number_of_fragments: 0 } } } }),
      () => ({ _source: times(count(random, 3000), () => text.slice(0, 50)) }),
    ])(),
    'a long or repetitive text',
  )
}

const longList: Maker = random => {
  const field = random.pick(FIELDS)
  const values = times(count(random, 70_000), at => (random.isChance(0.001) ? junk(random) : at))
  return search(
    random.pick<() => unknown>([
      () => ({ query: { terms: { [field]: values } } }),
      () => ({ query: { ids: { values } } }),
      () => ({ aggs: { a: { terms: { field, include: values } } } }),
      () => ({ aggs: { a: { range: { field: 'nanos', ranges: values.slice(0, 1100).map(from => ({ from })) } } } }),
      () => ({ sort: values.slice(0, 40).map(() => field) }),
      () => ({ docvalue_fields: values.slice(0, 120).map(() => '*'), size: 1000 }),
      () => ({
        query: { match: { message: 'a' } },
        highlight: { fields: Object.fromEntries(values.slice(0, 3000).map((_value, at) => [`f${at}*`, {}])) },
      }),
    ])(),
    'a long list',
  )
}

const aggregationBomb: Maker = random => {
  const field = (): string =>
    random.pick(['service', 'message', 'level', 'nanos', 'timestamp', 'id_like', 'host', 'absent', '_id', ...PROTOTYPE_NAMES])
  const metric = (): unknown =>
    random.pick<() => unknown>([
      () => ({ percentiles: { field: 'nanos' } }),
      () => ({ cardinality: { field: field() } }),
      () => ({ top_hits: { size: random.below(110) } }),
      () => ({ stats: { field: 'nanos' } }),
      () => ({ avg: { field: field() } }),
    ])()
  const buckets = (): Record<string, unknown> =>
    random.pick<() => Record<string, unknown>>([
      () => ({ terms: { field: field(), size: 1 + random.below(70_000) } }),
      () => ({
        histogram: {
          field: 'nanos',
          interval: random.pick([1e-9, 0.01, 1, 1e9]),
          extended_bounds: { min: 0, max: random.pick([10, 1e15]) },
        },
      }),
      () => ({
        date_histogram: {
          field: 'timestamp',
          fixed_interval: random.pick(['1ms', '1s', '1d']),
          time_zone: random.pick(['UTC', 'Europe/Berlin', '+14:00']),
        },
      }),
      () => ({ filters: { filters: times(1 + random.below(600), at => ({ match: { message: `word${at}` } })) } }),
    ])()
  const below = (depth: number): Record<string, unknown> =>
    Object.fromEntries(
      times(depth === 0 ? count(random, 60) : 1 + random.below(2), at => [
        random.isChance(0.1) ? random.pick(PROTOTYPE_NAMES) : `a${at}`,
        depth === 0 ? metric() : { ...buckets(), aggs: below(depth - 1) },
      ]),
    )
  return search(
    { size: random.below(3), query: random.pick([{ match_all: {} }, { match: { message: 'timeout' } }]), aggs: below(random.below(9)) },
    'buckets in buckets',
  )
}

const multiSearch: Maker = random => {
  const header = JSON.stringify(random.pick<unknown>([{ index: LOGS }, {}, { index: ['*', LOGS] }, { index: '-*' }, junk(random)]))
  const body = JSON.stringify({
    size: random.pick([0, 10, 10_000]),
    ...(mutated(random, sampled(random, comparedRequests).body) as object),
  })
  const lines = `${header}\n${body}\n`.repeat(Math.min(count(random, 110), Math.ceil(900_000 / body.length)))
  return search(random.isChance(0.2) ? lines.slice(0, -5) : lines, 'many searches in one', '/_msearch')
}

const filterPath: Maker = random =>
  get(
    `/${LOGS}/_search?size=100&filter_path=${encodeURIComponent(
      random.pick([
        '**.'.repeat(count(random, 300)),
        `${'**.a*.'.repeat(count(random, 100))}**`,
        times(count(random, 800), at => `-**.a${at}`).join(','),
        `*${'a*'.repeat(count(random, 2000))}`,
        PROTOTYPE_NAMES.join(','),
        '.',
        ',',
        '-',
      ]),
    )}`,
    'a filter of the answer',
  )

const oddAddress: Maker = random => {
  const name = random.pick([
    ...PROTOTYPE_NAMES,
    'café',
    '😀',
    '%',
    '%ff',
    '%2e%2e',
    '..',
    '_all',
    '-*',
    '*,-*',
    'a'.repeat(300),
    'A',
    ' ',
    '%00',
    ','.repeat(500),
    '*,'.repeat(500),
    '<a{now/d}>',
  ])
  const operation = random.pick([
    '_search',
    '_doc/1',
    '_mapping',
    '_settings',
    '_stats',
    '_alias',
    '_count',
    '_bulk',
    '_analyze',
    '_field_caps?fields=*',
    '_mget',
    '_refresh',
    '',
  ])
  const parameter = random.pick([
    '',
    '?size=x',
    '?constructor=1',
    '?__proto__=1',
    '?sort=a:b:c',
    '?q=(',
    '?q=a:[1 TO',
    '?from=99999999999',
    '?timeout=1x',
    `?_source=${'a*,'.repeat(1000)}`,
    '?pretty&format=yaml',
    '?expand_wildcards=x',
  ])
  const method = random.pick(['GET', 'POST', 'PUT', 'HEAD', 'PATCH', 'OPTIONS'])
  const isEmpty = method === 'GET' || method === 'HEAD' || random.isChance(0.3)
  return {
    method,
    path: `/${encodeURI(name).replaceAll('%25', '%')}/${operation}${operation.includes('?') ? parameter.replace('?', '&') : parameter}`,
    headers: random.pick<Record<string, string>>([
      JSON_TYPE,
      {},
      { 'content-type': 'text/plain' },
      { ...JSON_TYPE, 'content-encoding': 'br' },
    ]),
    body: isEmpty ? Buffer.alloc(0) : Buffer.from(JSON.stringify(junk(random)) ?? ''),
    note: 'an odd address',
  }
}

const bulk: Maker = random => {
  const target = (): string => random.pick(['hostile-table', 'service-logs-hostile', 'café', '..', '__proto__', 'constructor', 'UPPER', ''])
  const action = (): string =>
    random.pick<() => string>([
      () =>
        JSON.stringify({
          [random.pick(['index', 'create', 'update', 'delete', 'constructor', '__proto__'])]: {
            _index: target(),
            _id: String(random.below(50)),
          },
        }),
      () => JSON.stringify({ index: { _index: target(), if_seq_no: junk(random) } }),
      () => '{"index":{}}',
      () => '{"index":',
      () => JSON.stringify(junk(random)) ?? '',
      () => '\u0000',
    ])()
  const document = (): string =>
    random.pick<() => string>([
      () => JSON.stringify(Object.fromEntries([...PROTOTYPE_NAMES, 'message'].map(name => [name, junk(random)]))),
      () => JSON.stringify({ doc: mutated(random, { a: { b: 1 }, message: 'x' }), doc_as_upsert: true }),
      () => '{"a":1,"a":{"b":2}}',
      () => `{"${'a.'.repeat(count(random, 60))}z":1}`,
      () => '{"a":1e999,"b":0.0,"c":-0}',
      () => '[1]',
      () => '{"a":"\\ud800"}',
      () => JSON.stringify(nest(count(random, 500), inner => ({ a: inner }), 1)),
      () => `{"message":"${'w '.repeat(count(random, 20_000))}"}`,
    ])()
  const lines = times(count(random, 60), () => (random.isChance(0.05) ? action() : `${action()}\n${document()}`))
  return {
    method: 'POST',
    path: '/_bulk',
    headers: JSON_TYPE,
    body: Buffer.from(`${lines.join('\n')}${random.isChance(0.1) ? '' : '\n'}`),
    note: 'a malformed bulk',
  }
}

const packed: Maker = random => {
  const bytes = count(random, 64) * 1024 * 1024
  const text = random.pick([' ', '{"delete":{"_index":"a","_id":"1"}}\n', '['])
  const body = gzipSync(text.repeat(Math.floor(bytes / text.length)), { level: 9 }).subarray(0, 1024 * 1024)
  return {
    method: 'POST',
    path: random.pick(['/_bulk', '/_search', '/_msearch', '/hostile-table/_doc/1']),
    headers: { ...JSON_TYPE, 'content-encoding': random.pick(['gzip', 'gzip', 'gzip', 'deflate', 'zstd']) },
    body: random.isChance(0.1) ? body.subarray(0, body.length >> 1) : body,
    note: 'a body that unpacks to far more',
  }
}

const mapping: Maker = random => {
  const field = (): unknown =>
    random.pick<() => unknown>([
      () => ({
        type: random.pick([
          'keyword',
          'text',
          'long',
          'date',
          'nested',
          'flat_object',
          'object',
          'boolean',
          'geo_point',
          ...PROTOTYPE_NAMES,
        ]),
      }),
      () => ({ type: 'text', fields: { raw: { type: 'keyword' } } }),
      () => ({ properties: { [random.pick(FIELDS)]: { type: 'long' } } }),
      () => junk(random),
    ])()
  const properties = Object.fromEntries(
    times(count(random, 1200), at => [random.isChance(0.2) ? random.pick(FIELDS) : `m${random.below(40)}.${at}`, field()]),
  )
  const path = random.pick(['/hostile-table/_mapping', '/service-logs-hostile/_mapping'])
  return { method: 'PUT', path, headers: JSON_TYPE, body: Buffer.from(JSON.stringify({ properties })), note: 'a mapping over documents' }
}

const many: Maker = random => {
  const ids = times(count(random, 12_000), at => (random.isChance(0.01) ? junk(random) : `id-${at}`))
  return search(random.pick<unknown>([{ ids }, { docs: ids.map(_id => ({ _id })) }]), 'many documents', `/${LOGS}/_mget`)
}

const analyzed: Maker = random =>
  search(
    { text: random.pick(['a ', '😀', '_', 'ก', '1.1', '\u0301']).repeat(count(random, 150_000)) },
    'a long text to analyze',
    '/_analyze',
  )

const broken: Maker = random => {
  const body = Buffer.from(JSON.stringify(sampled(random, comparedRequests).body))
  for (let at = 0; at < 1 + random.below(8); at++) body[random.below(body.length)] = random.below(256)
  return { ...search('', 'bytes exchanged'), body }
}

const KINDS: readonly Maker[] = [
  mutatedSearch,
  mutatedSearch,
  mutatedSearch,
  deepQuery,
  wideQuery,
  longText,
  longText,
  longList,
  aggregationBomb,
  aggregationBomb,
  multiSearch,
  filterPath,
  oddAddress,
  oddAddress,
  bulk,
  bulk,
  packed,
  mapping,
  many,
  analyzed,
  broken,
]
