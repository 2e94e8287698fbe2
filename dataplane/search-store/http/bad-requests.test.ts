import { connect } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { before, describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { useTestStore } from '../testing/use-test-store.ts'

/** A bool inside a bool, `depth` times. */
function nested(depth: number): string {
  return `{"query":${'{"bool":{"must":['.repeat(depth)}{"match_all":{}}${']}}'.repeat(depth)}}`
}

const REFUSED: readonly { name: string; method?: string; path?: string; body?: unknown; status?: number; reason: string }[] = [
  { name: 'an unknown query', body: { query: { foo: {} } }, reason: 'unknown query [foo]' },
  {
    name: 'a query that is not supported',
    body: { query: { more_like_this: { like: 'b' } } },
    reason: 'query [more_like_this] is not supported by the embedded search store',
  },
  {
    name: 'a regular expression in a query string',
    body: { query: { query_string: { query: 'a:/x' } } },
    reason: 'a regular expression is not closed',
  },
  { name: 'an unknown option', body: { query: { match: { a: { query: 'b', foo: 1 } } } }, reason: '[match] does not support [foo]' },
  { name: 'an empty clause', body: { query: {} }, reason: 'query malformed, empty clause found' },
  { name: 'two clauses in one', body: { query: { match_all: {}, term: { a: 1 } } }, reason: 'must hold exactly one member' },
  { name: 'an unknown key', body: { foo: 1 }, reason: 'unknown key [foo]' },
  { name: 'a key that is not supported', body: { collapse: { field: 'a' } }, reason: 'search parameter [collapse] is not supported' },
  { name: 'an unknown parameter', path: '/things/_search?foo=1', body: {}, reason: 'contains unrecognized parameter: [foo]' },
  {
    name: 'a result window too large',
    body: { from: 9999, size: 2 },
    reason: 'from + size must be less than or equal to: [10000] but was [10001]',
  },
  { name: 'a negative size', body: { size: -1 }, reason: '[size] parameter cannot be negative' },
  {
    name: 'search_after without as many sorts',
    body: { search_after: [1, 2], sort: ['n'] },
    reason: 'search_after has 2 value(s) but sort has 1',
  },
  { name: 'words where numbers are', body: { query: { range: { n: { gte: 'many' } } } }, reason: 'For input string: \\"many\\"' },
  { name: 'dates that are none', body: { query: { range: { at: { gte: 'now-1x' } } } }, reason: 'failed to parse date field [now-1x]' },
  { name: 'dates without end', body: { query: { range: { at: { gte: `now+${'9'.repeat(9)}y` } } } }, reason: 'outside the calendar' },
  {
    name: 'an unknown time zone',
    body: { query: { range: { at: { gte: 'now', time_zone: 'Mars/Base' } } } },
    reason: 'Unknown time-zone ID: Mars/Base',
  },
  { name: 'sorting by text', body: { sort: ['text'] }, reason: 'Text fields are not optimised' },
  {
    name: 'too many clauses',
    body: { query: { bool: { should: Array.from({ length: 1025 }, () => ({ term: { a: 1 } })) } } },
    reason: 'maxClauseCount is set to 1024',
  },
  { name: 'too many words', body: { query: { match: { text: 'word '.repeat(1025) } } }, reason: 'maxClauseCount is set to 1024' },
  { name: 'a pattern too long', body: { query: { wildcard: { text: '*a'.repeat(501) } } }, reason: 'at most 1000 characters long' },
  {
    name: 'too many terms',
    body: { query: { terms: { n: Array.from({ length: 65_537 }, (_none, at) => at) } } },
    reason: 'exceeded the allowed maximum of [65536]',
  },
  { name: 'a query nested deeper than 100 levels', body: nested(101), reason: 'nested deeper than 100 levels' },
  { name: 'a body nested 5,000 times', body: nested(5000), reason: 'nested deeper' },
  {
    name: 'a body larger than 1 MiB',
    body: JSON.stringify({ query: { term: { a: 'x'.repeat(1024 * 1024) } } }),
    reason: 'larger than 1048576 bytes',
  },
  {
    name: 'a query string nested too deep',
    body: { query: { query_string: { query: `${'('.repeat(101)}a${')'.repeat(101)}` } } },
    reason: 'nested deeper than 100 levels',
  },
  { name: 'a query string cut short', body: { query: { query_string: { query: 'a AND' } } }, reason: 'Failed to parse query [a AND]' },
  { name: 'no JSON', body: '{"query":', reason: 'Failed to parse the request body as JSON' },
  { name: 'an array', body: '[]', reason: 'must be a JSON object, found array' },
  {
    name: 'bytes that are no UTF-8',
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    reason: 'Failed to parse the request body',
  },
  { name: 'a scroll of no time', path: '/things/_search?scroll=1x', body: {}, reason: 'failed to parse setting [scroll] with value [1x]' },
  {
    name: 'an endpoint that is not there',
    path: '/things/_foo',
    body: {},
    reason: 'no handler found for uri [/things/_foo] and method [POST]',
  },
  {
    name: 'a path that there is not, whose reason filter_path does not filter',
    path: '/_nope?filter_path=a',
    body: {},
    reason: 'no handler',
  },
  { name: 'a script', path: '/_scripts/painless/_execute', body: {}, reason: 'no handler found' },
  {
    name: 'cluster settings',
    method: 'PUT',
    path: '/_cluster/settings',
    body: { persistent: {} },
    reason: 'changing cluster settings is not supported',
  },
  { name: 'a malformed address', path: '/%zz/_search', body: {}, reason: 'malformed address part' },
  {
    name: 'an alias filter that is no query',
    method: 'PUT',
    path: '/things/_alias/a',
    body: { filter: { foo: {} } },
    reason: 'unknown query [foo]',
  },
]

describe('bad requests', () => {
  const store = useTestStore()
  before(async () => {
    await store.client.bulk({
      body: [
        { index: { _index: 'things', _id: '1' } },
        { n: 1, at: '2026-11-21T00:00:00Z', text: 'a b' },
        { index: { _index: 'service-logs-2026.11.21', _id: '1' } },
        { n: 1, timestamp: '2026-11-21T00:00:00Z', message: 'a b' },
      ],
    })
  })

  for (const { name, method = 'POST', path = '/things/_search', body, status = 400, reason } of REFUSED)
    it(`${status} for ${name}`, async () => {
      const answer = await store.request(method, path, body)
      expect(answer.status, answer.text.slice(0, 500)).to.equal(status)
      expect(answer.text).to.contain(reason)
    })

  it('400 for a body larger than 1 MiB reaches who sends it to its end', async () => {
    const sent = 3 * 1024 * 1024
    const socket = connect(Number(new URL(store.url).port), '127.0.0.1')
    const broken: string[] = []
    let text = ''
    socket.on('error', error => broken.push(error.message)).on('data', bytes => (text += bytes))
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.write(`POST /things/_search HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${sent}\r\n\r\n`)
    while (!text.includes('larger than 1048576 bytes')) await new Promise(setImmediate)
    for (let i = 0; i < 48; i++) await new Promise(resolve => socket.write(' '.repeat(sent / 48), resolve))
    await closed
    expect(broken).to.deep.equal([])
    expect(text).to.match(/^HTTP\/1\.1 400 /)
  })

  it('a query of 100 levels is fine', async () => {
    expect((await store.request('POST', '/things/_search', nested(99))).status).to.equal(200)
  })

  it("errors have OpenSearch's shape", async () => {
    const { body } = await store.request('POST', '/things/_search', { query: { range: { n: { gte: 'x' } } } })
    expect(body.status).to.equal(400)
    expect(body.error).to.include({ type: 'search_phase_execution_exception', reason: 'all shards failed', phase: 'query' })
    expect(body.error.root_cause[0]).to.include({ type: 'query_shard_exception', index: 'things' })
    expect(body.error.failed_shards[0]).to.include({ shard: 0, index: 'things' })
  })

  it('an index that cannot run the query does not hide the others', async () => {
    const { status, body } = await store.request('POST', '/things,service-logs-*/_search', { sort: [{ text: 'asc' }] })
    expect(status).to.equal(400)
    expect(body.error.failed_shards).to.have.length(2)
    const partial = await store.request('POST', '/things,service-logs-*/_search', { sort: [{ timestamp: 'asc' }] })
    expect(partial.status).to.equal(200)
    expect(partial.body._shards).to.deep.include({ total: 2, successful: 1, failed: 1 })
    expect(partial.body.hits.total.value).to.equal(1)
  })

  it('405 names the methods that are allowed', async () => {
    const answer = await store.request('DELETE', '/_bulk')
    expect(answer.status).to.equal(405)
    expect(answer.headers.get('allow')).to.equal('POST, PUT')
    expect(answer.body.error).to.equal('Incorrect HTTP method for uri [/_bulk] and method [DELETE], allowed: [POST, PUT]')
  })

  it('never 500, whatever types stand where', async () => {
    const names = [
      'query',
      'bool',
      'must',
      'match',
      'term',
      'terms',
      'range',
      'exists',
      'field',
      'value',
      'gte',
      'aggs',
      'a',
      'n',
      'sort',
      'order',
      'size',
      'from',
    ]
    const more = [
      '_source',
      'includes',
      'highlight',
      'fields',
      'search_after',
      'date_histogram',
      'fixed_interval',
      'filters',
      'percentiles',
      'percents',
      'query_string',
      '__proto__',
      'constructor',
    ]
    const json = fc.letrec(tie => ({
      value: fc.oneof(
        { maxDepth: 5, depthSize: 'medium' },
        fc.constantFrom<unknown>(null, true, -1, 1.5, 1e300, '', 'n', 'text', 'now-1d', '*', 'a:(b', '2026-11-21'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, ...more), tie('value'), { maxKeys: 4 }),
      ),
    })).value
    const member = fc.constantFrom('query', 'aggs', 'sort', '_source', 'highlight', 'fields', 'search_after', 'size', 'track_total_hits')
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(member, json, { minKeys: 1, maxKeys: 3 }),
        fc.constantFrom('things', 'service-logs-*'),
        async (body, index) => {
          const answer = await store.request('POST', `/${index}/_search`, JSON.stringify(body))
          expect(answer.status, `${JSON.stringify(body)} ${answer.text}`).to.be.oneOf([200, 400])
        },
      ),
      { numRuns: rounds(300), seed: 3 },
    )
  })

  it('answers patterns that could be read in very many ways as fast as others', async () => {
    const manyWays = `${'0<0000000000'.repeat(30)}-`
    const startMs = performance.now()
    const answer = await store.request(
      'POST',
      '/things/_search',
      JSON.stringify({ query: { match: { text: { query: 'a', minimum_should_match: manyWays } } } }),
    )
    expect(answer.status).to.equal(400)
    expect(performance.now() - startMs).to.be.below(2_000)
  })

  it('finds values below long names, and answers names of thirty thousand parts as fast as others', async () => {
    const parts = (count: number) => Array.from({ length: count }, () => 'a').join('.')
    const flat = { mappings: { properties: { a: { type: 'flat_object' } } } }
    await store.request('PUT', '/long-names', JSON.stringify(flat))
    const document = { a: { [parts(20)]: { [parts(18)]: 'x' } } }
    await store.request('PUT', '/long-names/_doc/1?refresh=true', JSON.stringify(document))
    const found = async (body: object) => {
      const answer = await store.request('POST', '/long-names/_search', JSON.stringify(body))
      return (JSON.parse(answer.text) as { hits: { total: { value: number } } }).hits.total.value
    }
    expect(await found({ query: { term: { [parts(39)]: 'x' } } })).to.equal(1)
    expect(await found({ query: { exists: { field: parts(39) } } })).to.equal(1)
    expect(await found({ query: { exists: { field: parts(40) } } })).to.equal(0)
    const startMs = performance.now()
    expect(await found({ query: { exists: { field: parts(30_000) } } })).to.equal(0)
    await store.request('POST', '/long-names/_search', JSON.stringify({ fields: [parts(30_000)], sort: [parts(30_000)] }))
    expect(performance.now() - startMs).to.be.below(2_000)
  })

  it('never 500 for near-misses of real queries', async () => {
    const wrong = fc.constantFrom<unknown>(null, true, -1, 1e300, '', 'x', [], {}, [[]], [null], { a: null })
    const build: readonly ((value: unknown) => object)[] = [
      value => ({ query: { match: { text: value } } }),
      value => ({ query: { match: { text: { query: 'a', operator: value } } } }),
      value => ({ query: { match: { text: { query: 'a', minimum_should_match: value } } } }),
      value => ({ query: { match_phrase: { text: { query: 'a b', slop: value } } } }),
      value => ({ query: { multi_match: { query: 'a', fields: value } } }),
      value => ({ query: { terms: { n: value } } }),
      value => ({ query: { terms: { n: [value] } } }),
      value => ({ query: { range: { at: { gte: value } } } }),
      value => ({ query: { range: { at: { gte: 'now', format: value, time_zone: value } } } }),
      value => ({ query: { range: { n: value } } }),
      value => ({ query: { wildcard: { text: value } } }),
      value => ({ query: { ids: { values: value } } }),
      value => ({ query: { bool: { must: value, boost: value } } }),
      value => ({ query: { query_string: { query: 'a', fields: value, default_operator: value } } }),
      value => ({ sort: value }),
      value => ({ sort: [{ n: value }] }),
      value => ({ sort: [{ n: { order: 'asc', missing: value } }] }),
      value => ({ sort: ['n'], search_after: [value] }),
      value => ({ aggs: { a: { terms: { field: value } } } }),
      value => ({ aggs: { a: { terms: { field: 'n', order: value, missing: value } } } }),
      value => ({ aggs: { a: { terms: { field: 'n', order: { _count: value } } } } }),
      value => ({ aggs: { a: { date_histogram: { field: 'at', fixed_interval: value } } } }),
      value => ({ aggs: { a: { date_histogram: { field: 'at', fixed_interval: '1d', extended_bounds: { min: value } } } } }),
      value => ({ aggs: { a: { date_histogram: { field: 'at', calendar_interval: 'day', time_zone: value, offset: value } } } }),
      value => ({ aggs: { a: { histogram: { field: 'n', interval: value } } } }),
      value => ({ aggs: { a: { range: { field: 'n', ranges: [{ from: value }] } } } }),
      value => ({ aggs: { a: { date_range: { field: 'at', ranges: [{ from: value }] } } } }),
      value => ({ aggs: { a: { filters: { filters: value } } } }),
      value => ({ aggs: { a: { percentiles: { field: 'n', percents: value } } } }),
      value => ({ aggs: { a: { top_hits: { size: value, sort: value } } } }),
      value => ({ aggs: { a: { max: { field: 'n', missing: value } } } }),
      value => ({ highlight: { fields: { text: value } }, query: { match: { text: 'a' } } }),
      value => ({ fields: [value] }),
      value => ({ fields: [{ field: 'at', format: value }] }),
      value => ({ track_total_hits: value, timeout: value }),
    ]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...build), wrong, async (make, value) => {
        const answer = await store.request('POST', '/things/_search', make(value))
        expect(answer.status, `${JSON.stringify(make(value))} ${answer.text}`).to.be.oneOf([200, 400])
      }),
      { numRuns: rounds(400), seed: 5 },
    )
  })

  it('survives clients that hang up in the middle of a body', async () => {
    const { port } = new URL(store.url)
    for (let at = 0; at < 5; at++) {
      const socket = connect(Number(port), '127.0.0.1')
      await new Promise<void>(resolve => {
        socket.write('POST /_bulk HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"index"', () =>
          socket.destroy(),
        )
        socket.on('close', () => resolve())
      })
    }
    expect((await store.request('GET', '/health')).status).to.equal(200)
  })

  for (const { name, request, endsEarly, error = 'not a well-formed HTTP request' } of [
    { name: 'is not HTTP', request: 'hello\r\n\r\n', endsEarly: false },
    {
      name: 'names two hosts',
      request: 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
      endsEarly: false,
      error: 'Host: expected one header of this name, seen several',
    },
    {
      name: 'has a body that is not chunked as it says',
      request: 'POST /_bulk HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      endsEarly: false,
    },
    { name: 'ends before its body does', request: 'POST /_bulk HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', endsEarly: true },
  ])
    it(`a request that ${name} is answered 400 as JSON`, async () => {
      const answer = await new Promise<string>(resolve => {
        let text = ''
        const socket = connect(Number(new URL(store.url).port), '127.0.0.1', () =>
          endsEarly ? socket.end(request) : socket.write(request),
        )
        socket.on('data', data => (text += data)).on('close', () => resolve(text))
      })
      const [head, body] = answer.split('\r\n\r\n')
      expect(head).to.match(/^HTTP\/1.1 400 /)
      expect(JSON.parse(body!)).to.deep.equal({ error, status: 400 })
    })

  it('packs answers for those who ask', async () => {
    const plain = await store.request('GET', '/_nodes', undefined, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).to.equal(null)
    const packed = await store.request('GET', '/_cat/indices?help', undefined, { 'accept-encoding': 'gzip' })
    expect(packed.status).to.equal(200)
    const large = await store.request('GET', '/_mapping,things/_search', undefined)
    expect(large.status).to.equal(400)
  })
})
