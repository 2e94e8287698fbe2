import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { LOG_MAPPINGS } from '../../testing/arbitrary-search.ts'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

/** Documents 1 to 6, oldest first. */
const DOCUMENTS = [
  {
    timestamp: '2026-11-20T23:30:00.000Z',
    service: 'cart',
    level: 'INFO',
    message: 'User 42 added an item to the cart',
    host: 'pod-1',
    tenant_id: 'acme',
    duration_ms: 12,
  },
  {
    timestamp: '2026-11-21T10:00:00.000Z',
    service: 'payment',
    level: 'ERROR',
    message: 'Connection refused: payment-gateway',
    host: 'pod-2',
    tenant_id: 'acme',
    duration_ms: 250,
    'user.id': 'u-7',
  },
  {
    timestamp: '2026-11-21T10:30:15.250Z',
    service: 'payment',
    level: 'ERROR',
    message: 'The gateway refused the connection',
    host: 'pod-10',
    tenant_id: 'globex',
    attributes: { 'service.version': '1.2' },
  },
  {
    timestamp: '2026-11-21T11:00:00.000Z',
    service: 'search',
    level: 'WARN',
    message: 'Disk full on /var/data, OutOfMemory soon',
    tenant_id: 'acme',
    tags: ['red', 'blue'],
    note: 'Full Disk',
  },
  {
    timestamp: '2026-11-21T11:59:59.999Z',
    service: 'cart',
    level: 'FATAL',
    message: 'timeout timeout TIMEOUT',
    host: 'pod-1',
    tenant_id: 'acme',
    is_anomaly: true,
    anomaly_score: 3.1,
  },
  {
    timestamp: '2026-11-21T12:00:00.000Z',
    service: 'checkout',
    level: 'INFO',
    message: '',
    tenant_id: 'globex',
    tags: [],
    http: { route: '/api/v1/items', status: 200 },
  },
]

interface Case {
  readonly name: string
  readonly query: unknown
  readonly ids: readonly number[]
}

const CASES: readonly Case[] = [
  { name: 'match_all', query: { match_all: {} }, ids: [1, 2, 3, 4, 5, 6] },
  { name: 'match_none', query: { match_none: {} }, ids: [] },
  { name: 'match: any of the words, in any case', query: { match: { message: 'CONNECTION timeout' } }, ids: [2, 3, 5] },
  { name: 'match with operator and', query: { match: { message: { query: 'connection refused', operator: 'and' } } }, ids: [2, 3] },
  {
    name: 'match with minimum_should_match',
    query: { match: { message: { query: 'gateway refused disk', minimum_should_match: 2 } } },
    ids: [2, 3],
  },
  {
    name: 'match with a percentage',
    query: { match: { message: { query: 'gateway refused disk', minimum_should_match: '67%' } } },
    ids: [2, 3],
  },
  { name: 'match of punctuation alone', query: { match: { message: '!!' } }, ids: [] },
  {
    name: 'match of punctuation alone, zero_terms_query all',
    query: { match: { message: { query: '!!', zero_terms_query: 'all' } } },
    ids: [1, 2, 3, 4, 5, 6],
  },
  { name: 'match on a keyword is exact', query: { match: { service: 'payment' } }, ids: [2, 3] },
  { name: 'match on a number given as text', query: { match: { duration_ms: '250' } }, ids: [2] },
  { name: 'match_phrase', query: { match_phrase: { message: 'connection refused' } }, ids: [2] },
  { name: 'match_phrase across punctuation', query: { match_phrase: { message: 'refused payment gateway' } }, ids: [2] },
  { name: 'match_phrase with slop', query: { match_phrase: { message: { query: 'refused connection', slop: 1 } } }, ids: [3] },
  { name: 'match_phrase_prefix', query: { match_phrase_prefix: { message: 'disk fu' } }, ids: [4] },
  { name: 'multi_match', query: { multi_match: { query: 'full', fields: ['message', 'note'] } }, ids: [4] },
  { name: 'multi_match on all fields, those of other types too', query: { multi_match: { query: 'full', fields: ['*'] } }, ids: [4] },
  {
    name: 'multi_match over a pattern, operator and in one field',
    query: { multi_match: { query: 'full disk', fields: ['n*'], operator: 'and' } },
    ids: [4],
  },
  { name: 'multi_match phrase', query: { multi_match: { query: 'full disk', fields: ['message', 'note'], type: 'phrase' } }, ids: [4] },
  { name: 'term on keyword', query: { term: { level: 'ERROR' } }, ids: [2, 3] },
  { name: 'term on keyword heeds the case', query: { term: { level: 'error' } }, ids: [] },
  { name: 'term, case_insensitive', query: { term: { level: { value: 'error', case_insensitive: true } } }, ids: [2, 3] },
  { name: 'term on text takes a token as it is', query: { term: { message: 'timeout' } }, ids: [5] },
  { name: 'term on text is not analysed', query: { term: { message: 'TIMEOUT' } }, ids: [] },
  { name: 'term on boolean', query: { term: { is_anomaly: true } }, ids: [5] },
  { name: 'term on number', query: { term: { duration_ms: 12 } }, ids: [1] },
  { name: 'term on float', query: { term: { anomaly_score: 3.1 } }, ids: [5] },
  { name: 'term on a date names the whole day', query: { term: { timestamp: '2026-11-20' } }, ids: [1] },
  { name: 'term on the keyword below dynamic text', query: { term: { 'note.keyword': 'Full Disk' } }, ids: [4] },
  { name: 'term on a dotted top-level key', query: { term: { 'user.id.keyword': 'u-7' } }, ids: [2] },
  { name: 'term below a flat_object', query: { term: { 'attributes.service.version': '1.2' } }, ids: [3] },
  { name: 'term on the flat_object itself', query: { term: { attributes: '1.2' } }, ids: [3] },
  { name: 'term on a nested path', query: { term: { 'http.status': 200 } }, ids: [6] },
  { name: 'term on an array', query: { term: { 'tags.keyword': 'blue' } }, ids: [4] },
  { name: 'term on _id', query: { term: { _id: '3' } }, ids: [3] },
  { name: 'term on a field that is not there', query: { term: { nowhere: 1 } }, ids: [] },
  { name: 'terms', query: { terms: { level: ['WARN', 'FATAL'] } }, ids: [4, 5] },
  { name: 'terms, none given', query: { terms: { level: [] } }, ids: [] },
  { name: 'range with now and units', query: { range: { timestamp: { gte: 'now-1h' } } }, ids: [4, 5, 6] },
  { name: 'range with rounding', query: { range: { timestamp: { lt: 'now/d' } } }, ids: [1] },
  { name: 'range: lte rounds up', query: { range: { timestamp: { gte: '2026-11-21T11', lte: '2026-11-21T11' } } }, ids: [4, 5] },
  { name: 'range: gt rounds up', query: { range: { timestamp: { gt: '2026-11-21T11' } } }, ids: [6] },
  { name: 'range with || math', query: { range: { timestamp: { gte: '2026-11-20||+1d', lt: '2026-11-21T10:30||+1m' } } }, ids: [2, 3] },
  { name: 'range in epoch milliseconds', query: { range: { timestamp: { gte: Date.UTC(2026, 10, 21, 12) } } }, ids: [6] },
  { name: 'range with format', query: { range: { timestamp: { gte: '21/11/2026 11', format: 'dd/MM/yyyy HH' } } }, ids: [4, 5, 6] },
  { name: 'range with time_zone', query: { range: { timestamp: { lt: '2026-11-21', time_zone: '-01:00' } } }, ids: [1] },
  {
    name: 'range with a named time_zone',
    query: { range: { timestamp: { gte: '2026-11-21T00:30', time_zone: 'Europe/Berlin' } } },
    ids: [1, 2, 3, 4, 5, 6],
  },
  { name: 'range on number', query: { range: { duration_ms: { gt: 12, lte: 250 } } }, ids: [2] },
  { name: 'range on keyword', query: { range: { service: { gte: 'd', lt: 'q' } } }, ids: [2, 3] },
  { name: 'range without bounds means a value', query: { range: { duration_ms: {} } }, ids: [1, 2] },
  { name: 'exists', query: { exists: { field: 'host' } }, ids: [1, 2, 3, 5] },
  { name: 'exists: an empty array is no value', query: { exists: { field: 'tags' } }, ids: [4] },
  { name: 'exists on an object', query: { exists: { field: 'http' } }, ids: [6] },
  { name: 'prefix', query: { prefix: { host: 'pod-1' } }, ids: [1, 3, 5] },
  { name: 'prefix on text', query: { prefix: { message: 'time' } }, ids: [5] },
  { name: 'wildcard', query: { wildcard: { host: 'pod-?' } }, ids: [1, 2, 5] },
  { name: 'wildcard with *', query: { wildcard: { service: { value: '*a*t' } } }, ids: [1, 2, 3, 5] },
  { name: 'wildcard on text takes tokens as they are', query: { wildcard: { message: 'outof*' } }, ids: [4] },
  { name: 'ids', query: { ids: { values: ['2', '9', '6'] } }, ids: [2, 6] },
  {
    name: 'bool must and must_not',
    query: { bool: { must: [{ term: { service: 'payment' } }], must_not: { term: { host: 'pod-2' } } } },
    ids: [3],
  },
  {
    name: 'bool filter',
    query: { bool: { filter: { terms: { level: ['INFO', 'WARN'] } }, must: { exists: { field: 'tags' } } } },
    ids: [4],
  },
  {
    name: 'bool should alone needs one',
    query: { bool: { should: [{ term: { level: 'WARN' } }, { term: { level: 'FATAL' } }] } },
    ids: [4, 5],
  },
  {
    name: 'bool should beside must is optional',
    query: { bool: { must: [{ term: { service: 'cart' } }], should: [{ term: { level: 'FATAL' } }] } },
    ids: [1, 5],
  },
  {
    name: 'bool minimum_should_match',
    query: { bool: { must: [{ term: { service: 'cart' } }], should: [{ term: { level: 'FATAL' } }], minimum_should_match: 1 } },
    ids: [5],
  },
  { name: 'bool must_not alone', query: { bool: { must_not: [{ exists: { field: 'host' } }] } }, ids: [4, 6] },
  { name: 'empty bool', query: { bool: {} }, ids: [1, 2, 3, 4, 5, 6] },
  { name: 'constant_score', query: { constant_score: { filter: { term: { level: 'WARN' } } } }, ids: [4] },
  { name: 'query_string: words are optional', query: { query_string: { query: 'timeout disk', default_field: 'message' } }, ids: [4, 5] },
  { name: 'query_string: AND', query: { query_string: { query: 'connection AND refused', default_field: 'message' } }, ids: [2, 3] },
  {
    name: 'query_string: default_operator',
    query: { query_string: { query: 'connection refused', default_field: 'message', default_operator: 'AND' } },
    ids: [2, 3],
  },
  {
    name: 'query_string: field, phrase, NOT',
    query: { query_string: { query: 'level:ERROR AND NOT message:"connection refused"' } },
    ids: [3],
  },
  { name: 'query_string: + and -', query: { query_string: { query: '+service:cart -level:INFO' } }, ids: [5] },
  {
    name: 'query_string: groups',
    query: { query_string: { query: 'service:(cart OR search) AND (level:WARN || level:FATAL)' } },
    ids: [4, 5],
  },
  { name: 'query_string: ranges', query: { query_string: { query: 'duration_ms:[12 TO 250} OR duration_ms:>=250' } }, ids: [1, 2] },
  { name: 'query_string: date range', query: { query_string: { query: 'timestamp:[now-1h TO now}' } }, ids: [4, 5] },
  { name: 'query_string: wildcards', query: { query_string: { query: 'host:pod-1* AND message:the' } }, ids: [1, 3] },
  { name: 'query_string: _exists_', query: { query_string: { query: '_exists_:tags' } }, ids: [4] },
  { name: 'query_string: everything', query: { query_string: { query: '*' } }, ids: [1, 2, 3, 4, 5, 6] },
  { name: 'query_string: all fields, leniently', query: { query_string: { query: '250 OR disk' } }, ids: [2, 4] },
  { name: 'query_string: escapes', query: { query_string: { query: 'host:pod\\-2' } }, ids: [2] },
  { name: 'simple_query_string', query: { simple_query_string: { query: 'connection + refused', fields: ['message'] } }, ids: [2, 3] },
  {
    name: 'simple_query_string: phrase or prefix',
    query: { simple_query_string: { query: '"disk full" | timeo*', fields: ['message'] } },
    ids: [4, 5],
  },
  {
    name: 'simple_query_string: not',
    query: { simple_query_string: { query: 'refused -payment', fields: ['message'], default_operator: 'and' } },
    ids: [3],
  },
  {
    name: 'simple_query_string: never refuses',
    query: { simple_query_string: { query: '"disk (full | +', fields: ['message'] } },
    ids: [4],
  },
]

const INDICES = ['service-logs-2026.11.21', 'articles']

describe('search', () => {
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    for (const index of INDICES) {
      await store.client.indices.create({ index, body: { mappings: LOG_MAPPINGS } as never })
      await store.client.bulk({
        body: DOCUMENTS.flatMap((document, at) => [{ index: { _index: index, _id: String(at + 1) } }, document]) as never,
      })
    }
  })
  after(() => store.stop())

  async function search(index: string, body: object) {
    const answer = await store.request('POST', `/${index}/_search`, body)
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }

  for (const index of INDICES)
    describe(`queries on ${index}`, () => {
      for (const { name, query, ids } of CASES)
        it(name, async () => {
          const { hits } = await search(index, { query, size: 100 })
          expect(hits.hits.map((hit: { _id: string }) => Number(hit._id)).sort()).to.deep.equal(ids)
          expect(hits.total).to.deep.equal({ value: ids.length, relation: 'eq' })
          const { body } = await store.client.count({ index, body: { query } as never })
          expect(body.count).to.equal(ids.length)
        })
    })

  for (const index of INDICES)
    describe(`results on ${index}`, () => {
      const idsOf = (body: { hits: { hits: { _id: string }[] } }) => body.hits.hits.map(hit => Number(hit._id))

      it('sorts by several fields, shows sort values, leaves scores out', async () => {
        const body = await search(index, { sort: [{ level: 'asc' }, { timestamp: { order: 'desc' } }], size: 3 })
        expect(idsOf(body)).to.deep.equal([3, 2, 5])
        expect(body.hits.hits[0]).to.include({ _score: null })
        expect(body.hits.hits[0].sort).to.deep.equal(['ERROR', Date.UTC(2026, 10, 21, 10, 30, 15, 250)])
        expect(body.hits.max_score).to.equal(null)
      })

      it('puts documents without a value last, first, or where told', async () => {
        expect(idsOf(await search(index, { sort: [{ duration_ms: 'desc' }, '_doc'] })).slice(0, 2)).to.deep.equal([2, 1])
        expect(idsOf(await search(index, { sort: [{ duration_ms: { order: 'asc', missing: '_first' } }] })).slice(-2)).to.deep.equal([1, 2])
        expect(idsOf(await search(index, { sort: [{ duration_ms: { order: 'asc', missing: 100 } }] })).at(0)).to.equal(1)
        expect(idsOf(await search(index, { sort: [{ duration_ms: { order: 'asc', missing: 100 } }] })).at(-1)).to.equal(2)
      })

      it('shows missing sort values as OpenSearch does', async () => {
        const body = await search(index, { sort: [{ duration_ms: 'asc' }, { host: 'asc' }], size: 6 })
        expect(body.hits.hits.at(-1).sort[1]).to.equal(null)
        const { text } = await store.request('POST', `/${index}/_search`, { sort: [{ duration_ms: 'asc' }], size: 6 })
        expect(text).to.contain('"sort":[9223372036854775807]')
      })

      it('takes unmapped_type for fields that are not there', async () => {
        expect(
          idsOf(await search(index, { sort: [{ nowhere: { order: 'asc', unmapped_type: 'long' } }, { timestamp: 'asc' }] })),
        ).to.deep.equal([1, 2, 3, 4, 5, 6])
        const answer = await store.request('POST', `/${index}/_search`, { sort: ['nowhere'] })
        expect(answer.status).to.equal(400)
        expect(answer.body.error.type).to.equal('search_phase_execution_exception')
        expect(answer.body.error.root_cause[0].reason).to.equal('No mapping found for [nowhere] in order to sort on')
      })

      it('pages with from and size', async () => {
        expect(idsOf(await search(index, { sort: ['timestamp'], from: 2, size: 2 }))).to.deep.equal([3, 4])
        expect(idsOf(await search(index, { sort: ['timestamp'], from: 6, size: 2 }))).to.deep.equal([])
      })

      it('pages with search_after, over missing values too', async () => {
        const seen: number[] = []
        let after: unknown[] | undefined
        for (let page = 0; page < 5; page++) {
          const body = await search(index, {
            size: 2,
            sort: [{ duration_ms: 'asc' }, { timestamp: 'desc' }],
            ...(after && { search_after: after }),
          })
          if (body.hits.hits.length === 0) break
          seen.push(...idsOf(body))
          after = body.hits.hits.at(-1).sort
        }
        expect(seen).to.deep.equal([1, 2, 6, 5, 4, 3])
      })

      it('pages with search_after over equal values, in the order of writing', async () => {
        const seen: number[] = []
        let after: unknown[] | undefined
        for (let page = 0; page < 4; page++) {
          const body = await search(index, {
            size: 2,
            query: { exists: { field: 'message' } },
            sort: [{ nowhere: { order: 'asc', unmapped_type: 'long' } }, { _seq_no: { order: 'desc' } }],
            ...(after && { search_after: after }),
          })
          seen.push(...idsOf(body))
          after = body.hits.hits.at(-1)?.sort ?? after
        }
        expect(seen).to.deep.equal([6, 5, 4, 3, 2, 1])
        expect(after!.at(-1)).to.equal(0)
      })

      it('filters _source', async () => {
        const one = (source: unknown) =>
          search(index, { query: { ids: { values: ['3'] } }, _source: source }).then(body => body.hits.hits[0]._source)
        expect(await one(['service', 'attributes.*'])).to.deep.equal({ service: 'payment', attributes: { 'service.version': '1.2' } })
        expect(await one({ excludes: ['m*', 'attributes', 'timestamp', 'tenant_id', 'host'] })).to.deep.equal({
          service: 'payment',
          level: 'ERROR',
        })
        expect(await one(false)).to.equal(undefined)
        const { body } = await store.client.search({ index, q: 'user.id:u', _source_includes: ['user'] } as never)
        expect(body.hits.hits[0]!._source).to.deep.equal({ 'user.id': 'u-7' })
      })

      it('shows fields in their formats', async () => {
        const body = await search(index, {
          query: { ids: { values: ['3'] } },
          _source: false,
          fields: ['service', { field: 'timestamp', format: 'yyyy-MM-dd HH:mm:ss.SSS' }],
        })
        expect(body.hits.hits[0].fields).to.deep.equal({ service: ['payment'], timestamp: ['2026-11-21 10:30:15.250'] })
      })

      it('counts hits as far as asked', async () => {
        expect((await search(index, { track_total_hits: 2, size: 1 })).hits.total).to.deep.equal({ value: 2, relation: 'gte' })
        expect((await search(index, { track_total_hits: 6, size: 0 })).hits.total).to.deep.equal({ value: 6, relation: 'eq' })
        expect((await search(index, { track_total_hits: false })).hits).to.not.have.property('total')
        expect((await search(index, { track_total_hits: true })).hits.total).to.deep.equal({ value: 6, relation: 'eq' })
        const answer = await store.request('GET', `/${index}/_search?rest_total_hits_as_int=true&size=0`)
        expect(answer.body.hits.total).to.equal(6)
      })

      it('highlights the words of the query', async () => {
        const highlight = { fields: { message: { number_of_fragments: 0 } }, pre_tags: ['<b>'], post_tags: ['</b>'] }
        const one = async (query: unknown) => (await search(index, { query, highlight })).hits.hits[0].highlight
        expect(await one({ match_phrase: { message: 'connection refused' } })).to.deep.equal({
          message: ['<b>Connection</b> <b>refused</b>: payment-gateway'],
        })
        expect(await one({ query_string: { query: 'message:time*' } })).to.deep.equal({
          message: ['<b>timeout</b> <b>timeout</b> <b>TIMEOUT</b>'],
        })
        expect(await one({ term: { service: 'search' } })).to.equal(undefined)
        expect(await one({ bool: { must: { match: { message: 'disk' } }, must_not: { match: { message: 'soon42' } } } })).to.deep.equal({
          message: ['<b>Disk</b> full on /var/data, OutOfMemory soon'],
        })
      })

      it('highlights a keyword whole, also where it is longer than a fragment', async () => {
        const highlight = { fields: { host: { fragment_size: 2 } } }
        const { hits } = await search(index, { query: { term: { host: 'pod-10' } }, highlight })
        expect(hits.hits[0].highlight).to.deep.equal({ host: ['<em>pod-10</em>'] })
      })

      it('ranks by the number of words that match when nothing sorts', async () => {
        const body = await search(index, { query: { match: { message: 'gateway refused payment' } } })
        expect(idsOf(body)).to.deep.equal([2, 3])
        expect(body.hits.hits.map((hit: { _score: number }) => hit._score)).to.deep.equal([3, 2])
        expect(body.hits.max_score).to.equal(3)
        const boosted = await search(index, {
          query: {
            bool: { should: [{ term: { level: 'WARN' } }, { term: { level: { value: 'FATAL', boost: 3 } } }], filter: { match_all: {} } },
          },
          size: 2,
        })
        expect(idsOf(boosted)).to.deep.equal([5, 4])
      })

      it('takes the query from the parameter q', async () => {
        const { body } = await store.client.search({ index, q: 'level:ERROR', sort: 'timestamp:desc', size: 1 } as never)
        expect(idsOf(body as never)).to.deep.equal([3])
      })

      it('shows versions when asked', async () => {
        const body = await search(index, { query: { ids: { values: ['1'] } }, version: true, seq_no_primary_term: true })
        expect(body.hits.hits[0]).to.include({ _version: 1, _seq_no: 0, _primary_term: 1 })
      })
    })

  it('searches several indices at once and tells them apart', async () => {
    const body = await search('articles,service-*', { query: { term: { level: 'WARN' } } })
    expect(body.hits.hits.map((hit: { _index: string }) => hit._index)).to.have.members(INDICES)
    expect(body._shards).to.deep.equal({ total: 2, successful: 2, skipped: 0, failed: 0 })
    expect((await search('_all,-articles', { query: { term: { level: 'WARN' } } })).hits.total.value).to.equal(1)
    expect((await search('*', { query: { term: { _index: 'articles' } } })).hits.total.value).to.equal(6)
  })

  it('runs several searches in one request', async () => {
    const lines = ['{"index":"articles"}', '{"query":{"term":{"level":"WARN"}}}', '{"index":"nowhere"}', '{}', '{}', '{"query":{"foo":{}}}']
    const answer = await store.request('POST', '/_msearch', `${lines.join('\n')}\n`)
    expect(answer.body.responses.map((each: { status: number }) => each.status)).to.deep.equal([200, 404, 400])
    expect(answer.body.responses[0].hits.total.value).to.equal(1)
  })

  it('refuses a query text that cannot be read as all shards would', async () => {
    const body = { query: { query_string: { query: 'level:[ERROR' } } }
    const { error } = (await store.request('POST', '/articles/_search', body)).body
    expect(error).to.include({ type: 'search_phase_execution_exception', phase: 'query' })
    expect(error.root_cause[0].reason).to.contain('Failed to parse query [level:[ERROR]')
    const several = await store.request('POST', '/articles/_msearch', `{}\n${JSON.stringify(body)}\n`)
    expect(several.body.responses[0].error.type).to.equal('search_phase_execution_exception')
  })

  it('names an index that is not there, unless told to pass over it', async () => {
    const answer = await store.request('GET', '/nowhere/_search')
    expect(answer.status).to.equal(404)
    expect(answer.body.error).to.deep.include({ type: 'index_not_found_exception', reason: 'no such index [nowhere]', index: 'nowhere' })
    expect((await store.request('GET', '/nowhere/_search?ignore_unavailable=true')).body.hits.total.value).to.equal(0)
    expect((await store.request('GET', '/nowhere-*/_search')).body.hits.total.value).to.equal(0)
    expect((await store.request('GET', '/nowhere-*/_search?allow_no_indices=false')).status).to.equal(404)
    expect((await store.request('GET', '/nowhere-*/_count')).body).to.deep.equal({
      count: 0,
      _shards: { total: 0, successful: 0, skipped: 0, failed: 0 },
    })
  })

  it('validates a query', async () => {
    expect((await store.request('POST', '/articles/_validate/query', { query: { match_all: {} } })).body.valid).to.equal(true)
    expect((await store.request('POST', '/articles/_validate/query', { query: { foo: {} } })).body.valid).to.equal(false)
  })
})
