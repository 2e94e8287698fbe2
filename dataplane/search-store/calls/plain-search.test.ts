import { expect } from 'chai'
import { isPlainSearch } from './plain-search.ts'
import type { QueryCall } from './query-call.ts'

const call = (body: object | string, more: Partial<QueryCall> = {}): QueryCall => ({
  operation: 'search',
  index: 'service-incidents-*',
  parameters: new URLSearchParams('ignore_unavailable=true&allow_no_indices=true'),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  acceptsGzip: false,
  ...more,
})

const open = { term: { status: 'open' } }
const nested = (levels: number): object => (levels === 0 ? open : { bool: { filter: [nested(levels - 1)] } })

describe('a plain search', () => {
  const plain: Readonly<Record<string, object | string>> = {
    'of everything': {},
    'for exact values': {
      query: { bool: { filter: [open, { terms: { service: ['a', 'b'] } }], must_not: { exists: { field: 'ticketing' } } } },
    },
    'for one of several ranges': {
      query: { bool: { should: [{ range: { dueAt: { lte: 'now' } } }, { ids: { values: ['1'] } }], minimum_should_match: 1 } },
    },
    'ordered by what it finds': {
      query: { bool: { should: [{ constant_score: { filter: open, boost: 2 } }] } },
      sort: [{ _score: 'desc' }],
    },
    'with groups and sums': {
      size: 0,
      aggs: {
        tenants: { terms: { field: 'tenantId', size: 1000, order: { _key: 'asc' } }, aggs: { last: { max: { field: 'updatedAt' } } } },
      },
    },
    'for a page': { from: 100, size: 100, sort: ['createdAt'], search_after: [1], _source: ['id'], track_total_hits: true },
  }
  for (const [name, body] of Object.entries(plain)) it(`is one ${name}`, () => expect(isPlainSearch(call(body))).to.equal(true))

  const others: Readonly<Record<string, object | string>> = {
    'for words': { query: { match: { message: 'open' } } },
    'for a pattern': { query: { bool: { filter: [open, { regexp: { service: '(a|a)*b' } }] } } },
    'for a pattern deep below': { query: { constant_score: { filter: { bool: { must_not: [{ wildcard: { service: '*a*' } }] } } } } },
    'of more levels': { query: nested(20) },
    'of more clauses': { query: { bool: { filter: Array.from({ length: 100 }, () => open) } } },
    'with two kinds in a clause': { query: { ...open, regexp: { service: 'a' } } },
    'with bars of time': { aggs: { bars: { date_histogram: { field: 'createdAt', fixed_interval: '1ms' } } } },
    'with bars of time below groups': {
      aggs: { a: { terms: { field: 'a' }, aggs: { bars: { date_histogram: { field: 'b', fixed_interval: '1ms' } } } } },
    },
    'with groups by a pattern': { aggs: { a: { terms: { field: 'a', include: '(a|a)*b' } } } },
    'with more groups': { aggs: Object.fromEntries(Array.from({ length: 20 }, (_none, at) => [at, { terms: { field: 'a' } }])) },
    'for any field': { query: { bool: { filter: [open, { exists: { field: '*' } }] } } },
    'that shows fields by a pattern': { _source: ['a*b*c'] },
    'that shows fields but some': { _source: { excludes: ['a'] } },
    'sorted by more fields': { sort: Array.from({ length: 20 }, (_none, at) => `field${at}`) },
    'for many': { size: 10_000 },
    'for a number that is a text': { size: '10000' },
    'with marked words': { highlight: { fields: { '*': {} } } },
    'in a point in time': { pit: { id: 'x' } },
    'that is not JSON': '{"query":',
    'that is a list': '[]',
    'longer than 16 KiB': { query: { terms: { service: ['a'.repeat(17_000)] } } },
  }
  for (const [name, body] of Object.entries(others)) it(`is none ${name}`, () => expect(isPlainSearch(call(body))).to.equal(false))

  it('is none with parameters that may say something else, of all indices, of a scroll, or to count', () => {
    expect(isPlainSearch(call({}, { parameters: new URLSearchParams('q=a*') }))).to.equal(false)
    expect(isPlainSearch(call({}, { index: undefined }))).to.equal(false)
    expect(isPlainSearch(call({}, { page: { id: 'x', cursor: undefined } }))).to.equal(false)
    expect(isPlainSearch(call({}, { operation: 'matches' }))).to.equal(false)
  })
})
