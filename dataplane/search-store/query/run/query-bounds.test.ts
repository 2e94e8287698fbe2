import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'
import { openQueryMemory } from '../budget/query-memory.ts'

const DOCUMENTS = 30_000
const MAPPINGS = {
  properties: {
    message: { type: 'text' },
    key: { type: 'keyword' },
    group: { type: 'keyword' },
    n: { type: 'long' },
    at: { type: 'date' },
  },
}
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_none, at) => make(at))
const named = (count: number, make: (at: number) => unknown) => Object.fromEntries(times(count, at => [`x${at}`, make(at)]))
const belowKeys = (aggs: object) => ({ size: 0, aggs: { keys: { terms: { field: 'key' }, aggs } } })

/** Every search is answered in time, and the thread is never held for long; a busy machine is slower than the bound by far. */
const LONGEST_TURN_MS = 1500

describe('a search that asks for more than it may have', function () {
  this.timeout(60_000)
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    for (const index of ['service-logs-a', 'table-a']) {
      await store.request('PUT', `/${index}`, { mappings: MAPPINGS })
      const count = index === 'table-a' ? 500 : DOCUMENTS
      const line = (at: number) =>
        `{"create":{}}\n{"message":"request ${at} took ${at % 100} ms","key":"key-${at}","group":"g${at % 20}","n":${at},"at":${1.79e12 + at}}\n`
      expect((await store.request('POST', `/${index}/_bulk?filter_path=errors`, times(count, line).join(''))).body.errors).to.equal(false)
    }
  })
  after(async () => {
    await store.stop()
    expect(store.logged).to.deep.equal([])
  })

  async function ask(path: string, body: unknown) {
    let longestMs = 0
    let last = performance.now()
    const watch = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 2)
    const answer = await store.request('POST', path, body)
    clearInterval(watch)
    expect(longestMs, 'longest turn').to.be.below(LONGEST_TURN_MS)
    return answer
  }

  const nested = (depth: number): object =>
    depth === 0 ? {} : { aggs: { inner: { terms: { field: 'key', size: 3 }, ...nested(depth - 1) } } }
  const TOO_LARGE: readonly (readonly [string, object])[] = [
    ['terms in terms, ten deep', { size: 0, ...nested(10) }],
    ['twenty percentiles below many terms', belowKeys(named(20, () => ({ percentiles: { field: 'n' } })))],
    ['190 aggregations below many terms', belowKeys(named(190, () => ({ avg: { field: 'n' } })))],
    ['190 aggregations of many terms side by side', { size: 0, aggs: named(190, () => ({ terms: { field: 'key' } })) }],
    ['500 filters below many terms', belowKeys({ f: { filters: { filters: times(500, at => ({ term: { group: `g${at}` } })) } } })],
    [
      'hits with long highlights',
      { size: 1000, query: { match: { message: 'took' } }, highlight: { pre_tags: ['x'.repeat(200_000)], fields: { message: {} } } },
    ],
  ]
  for (const [name, body] of TOO_LARGE)
    it(`is refused and told what to ask less of: ${name}`, async () => {
      const { status, body: answer } = await ask('/service-logs-a/_search', body)
      expect(status, JSON.stringify(answer).slice(0, 300)).to.equal(400)
      expect(answer.error.type).to.equal('circuit_breaking_exception')
      expect(answer.error.reason).to.match(/ask for less: /)
    })

  it('is refused before the buckets are made that no document is in: filters of filters of filters', async () => {
    const filters = (count: number) => times(count, at => ({ match: { message: `absent${at}` } }))
    const metrics = named(6, () => ({ percentiles: { field: 'n' } }))
    const inner = { i: { filters: { filters: filters(480) }, aggs: metrics } }
    const { status, body } = await ask('/service-logs-a/_search', {
      size: 0,
      aggs: { o: { filters: { filters: filters(300) }, aggs: inner } },
    })
    expect(status).to.equal(400)
    expect(body.error.type).to.equal('too_many_buckets_exception')
  })

  it('gives the memory back: the same ones in a row and at once leave room for others', async () => {
    const answers = await Promise.all(times(3, () => store.request('POST', '/service-logs-a/_search', { size: 0, ...nested(10) })))
    for (const { status } of answers) expect(status).to.be.oneOf([400, 429])
    expect((await ask('/service-logs-a/_search', { size: 0, ...nested(2) })).status).to.equal(200)
  })

  it('among many in one request leaves the others their answers', async () => {
    // Few documents that are large: bytes of answers count, and hits take time.
    const document = `{"create":{}}\n${JSON.stringify({ message: 'x'.repeat(100_000) })}\n`
    expect((await store.request('POST', '/service-logs-large/_bulk', document.repeat(50))).body.errors).to.equal(false)
    const line = `{}\n${JSON.stringify({ size: 10_000 })}\n`
    const small = `{}\n${JSON.stringify({ size: 1 })}\n`
    const { body } = await store.request('POST', '/service-logs-large/_msearch', small + line.repeat(60), { connection: 'keep-alive' })
    const statuses: number[] = body.responses.map((each: { status: number }) => each.status)
    expect(statuses[0]).to.equal(200)
    expect(statuses.at(-1)).to.equal(400)
    expect(new Set(statuses)).to.deep.equal(new Set([200, 400]))
  })

  it('is told to come again when others have all the memory', async () => {
    const others = times(4, () => openQueryMemory())
    let held = 0
    try {
      for (const each of others) for (let step = 0; step < 127; step++, held++) each.charge(1024 * 1024, 'nothing')
    } catch {
      // All of it.
    }
    const { status, body, headers } = await store.request('POST', '/service-logs-a/_search', { size: 0, ...nested(2) })
    for (const each of others) each.release()
    // More than one request may have.
    expect(held).to.be.above(128)
    expect(status).to.equal(429)
    expect(body.error.type).to.equal('circuit_breaking_exception')
    expect(headers.get('retry-after')).to.equal('1')
  })

  const WIDE = times(1100, at => [`f${at}`, { type: 'text' }])
  it('is refused with too many clauses or fields once words and fields are multiplied out', async () => {
    for (const [index, count] of [
      ['wide', 1100],
      ['narrow', 500],
    ] as const)
      await store.request('PUT', `/${index}`, {
        settings: { 'index.mapping.total_fields.limit': 3000 },
        mappings: { properties: Object.fromEntries(WIDE.slice(0, count)) },
      })
    const wide = await ask('/wide/_search', { query: { query_string: { query: 'a' } } })
    expect(wide.text).to.contain('field expansion matches too many fields, limit: 1024, got: 1100')
    const queries = [
      { query_string: { query: times(1000, at => `w${at}`).join(' ') } },
      { simple_query_string: { query: 'a + b + c' } },
      { bool: { should: times(200, at => ({ query_string: { query: `word${at}` } })) } },
    ]
    for (const query of queries) {
      const { status, body } = await ask('/narrow/_search', { query })
      expect(status).to.equal(400)
      expect(body.error.root_cause[0].type).to.equal('too_many_clauses')
    }
    expect((await ask('/narrow/_search', { query: { query_string: { query: 'a b' } } })).status).to.equal(200)
  })

  const REFUSED: readonly (readonly [string, string, unknown, RegExp])[] = [
    ['a query string of a megabyte', '/_search', { query: { query_string: { query: '('.repeat(500_000) } } }, /max allowed length 32000/],
    [
      'a simple query string of a megabyte',
      '/_search',
      { query: { simple_query_string: { query: '('.repeat(500_000) } } },
      /max allowed length 32000/,
    ],
    ['a text of a megabyte to match', '/service-logs-a/_search', { query: { match: { message: 'a '.repeat(450_000) } } }, /maxClauseCount/],
    ['a text of a megabyte to analyze', '/_analyze', { text: '1.1'.repeat(300_000) + ' a'.repeat(20_000) }, /allowed maximum of \[10000\]/],
    ['hundreds of names with stars', `/${'s*,'.repeat(200)}x/_search`, {}, /at most 100 patterns/],
    ['thousands of source patterns', '/_search', { _source: times(300, at => `a${at}*`) }, /at most 256/],
    [
      'a long sum of dates',
      '/service-logs-a/_search',
      { query: { range: { at: { gte: `now${'+1d'.repeat(2000)}` } } } },
      /longer than 1000/,
    ],
    [
      'a phrase of many movable words',
      '/service-logs-a/_search',
      { query: { match_phrase: { message: { query: 'a '.repeat(100), slop: 5 } } } },
      /at most 64 words/,
    ],
    [
      'buckets of a millisecond over years',
      '/service-logs-a/_search',
      {
        size: 0,
        aggs: {
          a: { date_histogram: { field: 'at', fixed_interval: '1ms', time_zone: 'Europe/Berlin', extended_bounds: { min: 0, max: 1e13 } } },
        },
      },
      /too many buckets/,
    ],
  ]
  for (const [name, path, body, reason] of REFUSED)
    it(`is refused: ${name}`, async () => {
      const { status, text } = await ask(path, body)
      expect(status).to.equal(400)
      expect(text).to.match(reason)
    })

  const HEAVY: readonly (readonly [string, object])[] = [
    ['65,536 terms of a keyword', { query: { terms: { key: times(65_536, at => `key-${at}`) } } }],
    ['65,536 terms of a text', { query: { terms: { message: times(65_536, String) } } }],
    ['50,000 ids', { query: { ids: { values: times(50_000, at => `id-${at}`) } } }],
    [
      '500 filters of phrases',
      { size: 0, aggs: { f: { filters: { filters: times(500, at => ({ match_phrase: { message: `request ${at}` } })) } } } },
    ],
    ['cardinality below many terms', belowKeys({ c: { cardinality: { field: 'group' } } })],
  ]
  for (const [name, body] of HEAVY)
    it(`is answered in turns: ${name}`, async () => {
      expect((await ask('/service-logs-a/_search', body)).status).to.equal(200)
    })

  it('is over when its time is, also within one document', async () => {
    await store.request('PUT', '/long/_doc/1', { message: `${'a '.repeat(400_000)}` })
    const start = performance.now()
    const clauses = times(60, at => ({ match_phrase: { message: { query: `${'a '.repeat(60)}${'b'.repeat(at + 1)}*`, slop: 1000 } } }))
    const { body } = await store.request('POST', '/long/_search', { timeout: '50ms', query: { bool: { should: clauses } } })
    expect(body.timed_out).to.equal(true)
    expect(performance.now() - start).to.be.below(5000)
  })
})
