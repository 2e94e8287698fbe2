import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { BOTH_ENGINES, fillBoth, searchIn } from '../../testing/both-engines.ts'
import { useTestStore } from '../../testing/use-test-store.ts'

const MAPPINGS = {
  properties: {
    timestamp: { type: 'date' },
    service: { type: 'keyword' },
    text: { type: 'text', fields: { raw: { type: 'keyword' } } },
    http: { properties: { status: { type: 'long' } } },
    app: { type: 'alias', path: 'service' },
    words: { type: 'alias', path: 'text' },
    raw: { type: 'alias', path: 'text.raw' },
    code: { type: 'alias', path: 'http.status' },
    '@timestamp': { type: 'alias', path: 'timestamp' },
  },
}

const DOCUMENTS = Array.from({ length: 20 }, (_none, at) => ({
  timestamp: new Date(Date.UTC(2026, 10, 21, 0, at)).toISOString(),
  service: at % 2 === 0 ? 'cart' : 'payment',
  text: `order ${at}`,
  http: { status: at < 15 ? 200 : 500 },
}))

describe('alias fields', () => {
  const store = useTestStore()
  before(async () => {
    await fillBoth(store, MAPPINGS, DOCUMENTS)
  })

  for (const index of BOTH_ENGINES)
    describe(`on ${index}`, () => {
      const search = (body: object) => searchIn(store, index, body)
      const count = async (query: object) => (await search({ query, size: 0 })).hits.total.value

      it('are found by queries of all kinds', async () => {
        expect(await count({ term: { app: 'cart' } })).to.equal(10)
        expect(await count({ range: { code: { gte: 500 } } })).to.equal(5)
        expect(await count({ match_phrase: { words: 'order 3' } })).to.equal(1)
        expect(await count({ prefix: { raw: 'order 1' } })).to.equal(11)
        expect(await count({ exists: { field: 'code' } })).to.equal(20)
        expect(await count({ range: { '@timestamp': { gte: '2026-11-21T00:18:00Z' } } })).to.equal(2)
        expect(await count({ query_string: { query: 'app:cart AND code:500' } })).to.equal(2)
      })

      it('count once beside their fields in a pattern', async () => {
        const { hits } = await search({ query: { query_string: { query: 'cart', fields: ['*'] } }, size: 1 })
        expect(hits.total.value).to.equal(10)
        expect(hits.max_score).to.equal(1)
      })

      it('sort, and go on behind a hit', async () => {
        const sort = [{ '@timestamp': 'desc' }]
        const first = await search({ sort, size: 3 })
        const ids = (of: { hits: { hits: { _id: string }[] } }) => of.hits.hits.map(hit => hit._id)
        expect(ids(first)).to.deep.equal(['d19', 'd18', 'd17'])
        expect(ids(await search({ sort, size: 2, search_after: first.hits.hits[2].sort }))).to.deep.equal(['d16', 'd15'])
      })

      it('are aggregated as their fields are, beside them too', async () => {
        const { aggregations } = await search({
          size: 0,
          aggs: {
            apps: { terms: { field: 'app' }, aggs: { services: { terms: { field: 'service' } }, worst: { max: { field: 'code' } } } },
            times: { date_histogram: { field: '@timestamp', fixed_interval: '10m' }, aggs: { last: { max: { field: 'timestamp' } } } },
            names: { cardinality: { field: 'app' } },
            mean: { avg: { field: 'code' } },
            pages: { composite: { sources: [{ app: { terms: { field: 'app' } } }] } },
          },
        })
        const keys = (of: { buckets: { key: unknown; doc_count: number }[] }) => of.buckets.map(each => [each.key, each.doc_count])
        expect(keys(aggregations.apps)).to.deep.equal([
          ['cart', 10],
          ['payment', 10],
        ])
        expect(keys(aggregations.apps.buckets[0].services)).to.deep.equal([['cart', 10]])
        expect(aggregations.apps.buckets[0].worst.value).to.equal(500)
        expect(aggregations.times.buckets.map((each: { doc_count: number }) => each.doc_count)).to.deep.equal([10, 10])
        expect(aggregations.names.value).to.equal(2)
        expect(aggregations.mean.value).to.equal(275)
        expect(keys(aggregations.pages)).to.deep.equal([
          [{ app: 'cart' }, 10],
          [{ app: 'payment' }, 10],
        ])
      })

      it('are shown under their own names, and not in _source', async () => {
        const { hits } = await search({
          query: { match: { words: '19' } },
          fields: ['code', 'app'],
          docvalue_fields: ['@timestamp'],
          highlight: { fields: { 'w*': {} } },
        })
        expect(hits.hits[0]).to.deep.include({
          _source: DOCUMENTS[19],
          fields: { code: [500], app: ['payment'], '@timestamp': ['2026-11-21T00:19:00.000Z'] },
          highlight: { words: ['order <em>19</em>'] },
        })
      })

      it('have the capabilities of their fields, and their own mapping', async () => {
        const { body } = await store.request('GET', `/${index}/_field_caps?fields=code,words`)
        expect(body.fields.code).to.deep.equal({ long: { type: 'long', searchable: true, aggregatable: true } })
        expect(Object.keys(body.fields.words)).to.deep.equal(['text'])
        const mapping = (await store.request('GET', `/${index}/_mapping`)).body[index].mappings.properties
        expect(mapping.code).to.deep.equal({ type: 'alias', path: 'http.status' })
      })

      it('take no values', async () => {
        for (const document of [{ app: 'x' }, { app: null }, { app: [null] }, { app: { x: 1 } }, { 'app.x': 1 }]) {
          const { status, body } = await store.request('PUT', `/${index}/_doc/none`, document)
          expect(status).to.equal(400)
          expect(body.error.type).to.equal('mapper_parsing_exception')
        }
        const { body } = await store.request('PUT', `/${index}/_doc/none`, { app: 'x' })
        expect(body.error.reason).to.contain('Cannot write to a field alias [app].')
      })
    })

  const put = (properties: object) => store.request('PUT', '/others/_mapping', { properties })

  it('stand for a field of the index, which another PUT may change', async () => {
    await store.request('PUT', '/others', {
      mappings: { properties: { a: { type: 'keyword' }, b: { type: 'long' }, o: { properties: {} } } },
    })
    const refused: readonly [object, string][] = [
      [{ type: 'alias' }, 'The [path] property must be specified for field [x].'],
      [{ type: 'alias', path: 'x' }, 'Invalid [path] value [x] for field alias [x]: an alias cannot refer to itself.'],
      [
        { type: 'alias', path: 'no' },
        'Invalid [path] value [no] for field alias [x]: an alias must refer to an existing field in the mappings.',
      ],
      [
        { type: 'alias', path: 'o' },
        'Invalid [path] value [o] for field alias [x]: an alias must refer to an existing field in the mappings.',
      ],
      [{ type: 'alias', path: 'a', index: false }, 'unsupported parameters:  [index : false]'],
      [{ type: 'keyword', fields: { f: { type: 'alias', path: 'a' } } }, 'Type [alias] cannot be used in multi field'],
    ]
    for (const [x, reason] of refused) {
      const { status, body } = await put({ x })
      expect(status, reason).to.equal(400)
      expect(body.error.reason).to.contain(reason)
    }
    expect((await put({ x: { type: 'alias', path: 'a' } })).status).to.equal(200)
    expect((await put({ y: { type: 'alias', path: 'x' } })).body.error.reason).to.contain('an alias cannot refer to another alias.')
    expect((await put({ x: { type: 'keyword' } })).status).to.equal(400)
    await store.request('PUT', '/others/_doc/1', { a: 'one', b: 2 })
    const count = async (value: unknown) => (await store.request('POST', '/others/_count', { query: { term: { x: value } } })).body.count
    expect(await count('one')).to.equal(1)
    expect((await put({ x: { type: 'alias', path: 'no' } })).status).to.equal(400)
    expect(await count('one')).to.equal(1)
    expect((await put({ early: { type: 'alias', path: 'o.late' }, o: { properties: { late: { type: 'keyword' } } } })).status).to.equal(200)
    expect((await put({ x: { type: 'alias', path: 'b' } })).status).to.equal(200)
    expect(await count(2)).to.equal(1)
  })
})
