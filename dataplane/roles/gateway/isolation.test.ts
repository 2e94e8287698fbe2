/** Tries to reach another tenant's data through the gateway, in each way that a search or a path can be written. */
import { connect, constants } from 'node:http2'
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { type Call, type Harness, startHarness } from './testing/gateway-harness.ts'

const DAY = 'service-logs-2026.11.22'
const SECRET = 'globex-secret'

describe('a tenant of the gateway', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
    const { store } = harness.search
    await putIndexTemplates(store)
    const put = (index: string, id: string, document: object) => store.put(index, id, document)
    const log = (tenant: string, message: string) => ({
      timestamp: '2026-11-22T12:00:00.000Z',
      tenant_id: tenant,
      service: `${tenant}-cart`,
      level: 'INFO',
      message,
    })
    await put(DAY, 'mine', log('acme', 'hello of acme'))
    await put(DAY, 'theirs', log('globex', SECRET))
    await put('service-logs-2026.11.21', 'theirs', log('globex', SECRET))
    for (const tenant of ['acme', 'globex']) {
      const secret = tenant === 'globex' ? SECRET : 'mine'
      await put(`service-anomalies-${tenant}`, 'a', { id: 'a', tenant_id: tenant, message: secret })
      await put(`service-incidents-${tenant}`, 'i', { id: 'i', tenantId: tenant, title: secret })
      await put(`service-audit-${tenant}`, 'u', { incident_id: 'i', details: secret })
      await put(`service-dispatches-${tenant}`, 'd', { incidentId: 'i', note: secret })
      await store.putAliases(DAY, [{ name: `service-logs-${tenant}`, filter: { term: { tenant_id: tenant } } }])
    }
    await put('service-config', 'c', { tenantId: 'globex', section: SECRET })
  })
  after(() => harness.stop())
  beforeEach(() => {
    harness.asked.length = 0
  })

  const search = (body: object | string, expression = 'service-logs-*', call: Call = {}) =>
    harness.call(`/api/search/${expression}/_search`, { body, ...call })
  const idsOf = (answer: { json(): { hits: { hits: readonly { _id: string }[] } } }) => answer.json().hits.hits.map(({ _id }) => _id)

  describe('sees its own', () => {
    const expressions = [
      'service-logs-*',
      DAY,
      'service-logs-2026.11.*',
      'service-logs-2026*',
      'service-logs-acme',
      `${DAY},service-logs-acme`,
      'service-logs-%2A',
      'service%2Dlogs-*',
    ]
    for (const expression of expressions)
      it(`logs in ${expression}`, async () => {
        const answer = await search({ query: { match_all: {} } }, expression)
        expect(answer.status, answer.body.toString()).to.equal(200)
        expect(idsOf(answer)).to.deep.equal(['mine'])
      })

    it('logs without a query, and by GET', async () => {
      expect(idsOf(await search({}))).to.deep.equal(['mine'])
      expect(idsOf(await harness.call('/api/search/service-logs-*/_search'))).to.deep.equal(['mine'])
    })

    const clauses: readonly object[] = [
      { match: { message: 'hello' } },
      { term: { service: 'acme-cart' } },
      { terms: { level: ['INFO', 'WARN'] } },
      { range: { timestamp: { gte: '2026-11-22T00:00:00Z' } } },
      { bool: { must: [{ match: { message: 'hello' } }], filter: { exists: { field: 'service' } }, should: [], must_not: [] } },
      { bool: { should: [{ match_all: {} }], minimum_should_match: 0 } },
      { constant_score: { filter: { match_all: {} } } },
      { ids: { values: ['mine', 'theirs'] } },
      { prefix: { service: 'a' } },
      { wildcard: { service: '*' } },
    ]
    for (const query of clauses)
      it(`by ${JSON.stringify(query)}`, async () => {
        const answer = await search({ query, sort: [{ timestamp: 'desc' }], size: 5, _source: ['message'] })
        expect(answer.status, answer.body.toString()).to.equal(200)
        expect(idsOf(answer)).to.deep.equal(['mine'])
      })

    it('counts, by GET and POST', async () => {
      expect((await harness.call('/api/search/service-logs-*/_count')).json()).to.deep.include({ count: 1 })
      const answer = await harness.call('/api/search/service-logs-*/_count', { body: { query: { match_all: {} } } })
      expect(answer.json()).to.have.all.keys('count', '_shards').and.to.include({ count: 1 })
    })

    for (const index of ['service-anomalies-acme', 'service-incidents-acme', 'service-audit-acme'])
      it(`documents of ${index}`, async () => {
        const answer = await search({}, index)
        expect([answer.status, idsOf(answer).length]).to.deep.equal([200, 1])
        expect(answer.body.toString()).to.not.contain(SECRET)
      })

    it('cluster health', async () => {
      expect((await harness.call('/api/search/_cluster/health')).json()).to.include.keys('status', 'number_of_nodes')
    })

    it('_cat/indices: its own indices, with its own counts', async () => {
      const rows = (await harness.call('/api/search/_cat/indices?format=json')).json() as readonly Record<string, string>[]
      expect(Object.fromEntries(rows.map(row => [row['index'], row['docs.count']]))).to.deep.equal({
        [DAY]: '1',
        'service-anomalies-acme': '1',
        'service-incidents-acme': '1',
        'service-audit-acme': '1',
      })
      for (const row of rows) expect(row).to.have.all.keys('health', 'status', 'index', 'docs.count', 'store.size')
    })

    it('values of aggregations', async () => {
      const answer = await search({
        size: 0,
        aggs: {
          services: { terms: { field: 'service' } },
          all: { filter: { match_all: {} }, aggs: { n: { value_count: { field: 'service' } } } },
        },
      })
      const { services, all } = answer.json().aggregations
      expect([services.buckets.map(({ key }: { key: string }) => key), all.n.value]).to.deep.equal([['acme-cart'], 1])
    })
  })

  describe('does not see those of others', () => {
    const expressions = [
      ...[
        '*',
        '_all',
        'service-*',
        'service*',
        's*',
        '-service-logs-x',
        '*,-x',
        'service-logs-*,*',
        '%2A',
        '%5Fall',
        '<service-logs-{now/d}>',
        '%3Cservice-logs-%7Bnow%2Fd%7D%3E',
      ],
      ...[
        'service-logs-globex',
        'service-logs-g*',
        'service-logs-acme*',
        'service-logs-*acme',
        'service-logs-acme,service-logs-globex',
        'service-log*',
        'service-logs-**',
      ],
      ...[
        'service-anomalies-globex',
        'service-anomalies-*',
        'service-incidents-globex',
        'service-incidents-*',
        'service-audit-globex',
        'service-audit-*',
        'service-audit-acme,service-audit-globex',
      ],
      ...[
        'service-dispatches-acme',
        'service-dispatches-globex',
        'service-config',
        'service-api-keys',
        'service-feature-runs',
        'service-anomalies-acme*',
        'service-incidents-acme,service-config',
      ],
      ...[
        'other:service-logs-*',
        'SERVICE-LOGS-*',
        '.opensearch',
        '_cluster',
        'service-logs-*%00',
        'service-logs-* ',
        ' service-logs-*',
        'service-logs-*%2Cservice-config',
        ',',
        'service-logs-*,',
        '..',
        '%2e%2e',
        '%2e%2e%2fservice-config',
        'service-logs-*%2f..%2fservice-config',
      ],
      ...[
        'service-logs-*;x',
        'service-logs-*;index=service-config',
        'service-logs-*%3Fq',
        'service-logs-globex%23',
        '%73ervice-logs-globex',
      ],
      ...['service-logs-*%252Cservice-config', 'service-logs-globex%2f_search', 'service-logs-9999.99.99', 'service-logs-acme%0d%0a'],
    ]
    for (const expression of expressions)
      for (const operation of ['_search', '_count'])
        it(`${operation} of ${expression}`, async () => {
          const answer = await harness.call(`/api/search/${expression.replaceAll(' ', '%20')}/${operation}`, { body: {} })
          expect([400, 403, 404], answer.body.toString()).to.include(answer.status)
          expect(answer.body.toString()).to.not.contain(SECRET)
        })

    const queries: Readonly<Record<string, object>> = {
      'a terms look-up': { terms: { service: { index: 'service-logs-globex', id: 'theirs', path: 'service' } } },
      'a terms look-up within a bool': { bool: { should: [{ terms: { service: { index: DAY, id: 'theirs', path: 'service' } } }] } },
      'a script': { script: { script: 'true' } },
      'a script score': { script_score: { query: { match_all: {} }, script: { source: '1' } } },
      'a function score': { function_score: { query: { match_all: {} } } },
      'more like this': { more_like_this: { fields: ['message'], like: [{ _index: DAY, _id: 'theirs' }], min_term_freq: 1 } },
      percolate: { percolate: { field: 'x', index: DAY, id: 'theirs' } },
      'a geo shape': { geo_shape: { x: { indexed_shape: { index: DAY, id: 'theirs' } } } },
      'a wrapper': { wrapper: { query: Buffer.from('{"match_all":{}}').toString('base64') } },
      'a terms set': { terms_set: { service: { terms: ['x'], minimum_should_match_script: { source: '0' } } } },
      joins: { has_child: { type: 'x', query: { match_all: {} } } },
      nested: { nested: { path: 'x', query: { match_all: {} } } },
      knn: { knn: { x: { vector: [1], k: 1 } } },
      'a script in a filter': { constant_score: { filter: { script: { script: 'true' } } } },
      'a script in dis_max': { dis_max: { queries: [{ match_all: {} }, { script: {} }] } },
      'a script in boosting': { boosting: { positive: { match_all: {} }, negative: { script: {} }, negative_boost: 1 } },
      unknown: { anything: {} },
    }
    for (const [name, query] of Object.entries(queries))
      for (const operation of ['_search', '_count'])
        it(`${operation} with ${name}: 403`, async () => {
          expect((await harness.call(`/api/search/service-logs-*/${operation}`, { body: { query } })).status).to.equal(403)
        })

    const tricks: Readonly<Record<string, object | string>> = {
      'a query for another tenant': { query: { term: { tenant_id: 'globex' } } },
      'a query that is true for all': { query: { bool: { should: [{ match_all: {} }, { term: { tenant_id: 'globex' } }] } } },
      'a query that excludes its own': { query: { bool: { must_not: [{ term: { tenant_id: 'acme' } }] } } },
      'a query string': { query: { query_string: { query: '* OR tenant_id:globex' } } },
      'a query string that closes brackets': { query: { query_string: { query: 'x) OR (tenant_id:globex' } } },
      'two queries': '{"query":{"match_none":{}},"query":{"match_all":{}}}',
      'two queries, one with an escape': '{"query":{"match_none":{}},"quer\\u0079":{"match_all":{}}}',
      'a post filter': { query: { match_all: {} }, post_filter: { term: { tenant_id: 'globex' } } },
      'the names of prototypes': '{"__proto__":{"query":{"match_all":{}}}}',
      ids: { query: { ids: { values: ['theirs'] } } },
      'all sources': { _source: ['*'], fields: ['*'], docvalue_fields: ['service'] },
      'an empty query': { query: {} },
      null: { query: null },
      'a list': '[]',
      'lines of _msearch': '{}\n{"query":{"match_all":{}}}\n',
      'an index in the header line of _msearch': '{"index":"service-logs-globex"}\n{"query":{"match_all":{}}}\n',
      'a member with an end of text': '{"query":{"match_all":{}},"query\\u0000":{"match_all":{}}}',
      'a byte order mark': '\ufeff{"query":{"match_all":{}}}',
      'a constructor': '{"query":{"match_all":{}},"constructor":{}}',
      'a simple query string': { query: { simple_query_string: { query: 'globex* | -acme', fields: ['*'] } } },
      'fields of the index': { query: { query_string: { query: '_index:* OR _id:* OR globex*', fields: ['*'] } } },
      'the other bucket of filters': {
        aggs: {
          a: { filters: { other_bucket: true, filters: { x: { term: { tenant_id: 'acme' } } } }, aggs: { h: { top_hits: { size: 50 } } } },
        },
      },
      'what is missing': { aggs: { a: { missing: { field: 'nothing' }, aggs: { t: { terms: { field: 'tenant_id' } } } } } },
      'a composite': { aggs: { a: { composite: { size: 100, sources: [{ t: { terms: { field: 'service' } } }] } } } },
      'a place to go on from': { search_after: ['0'], sort: [{ tenant_id: 'asc' }] },
    }
    for (const [name, body] of Object.entries(tricks))
      it(`by ${name}`, async () => {
        const answer = await search(body)
        expect([200, 400, 403], answer.body.toString()).to.include(answer.status)
        expect(answer.body.toString()).to.not.contain(SECRET).and.to.not.contain('globex-cart')
      })

    const members: Readonly<Record<string, object>> = {
      runtime_mappings: { x: { type: 'keyword', script: "emit('x')" } },
      derived: { x: { type: 'keyword', script: { source: "emit('x')" } } },
      script_fields: { x: { script: { source: 'params' } } },
      suggest: { s: { text: 'x', term: { field: 'service' } } },
      rescore: { window_size: 10, query: { rescore_query: { match_all: {} } } },
      knn: { field: 'x' },
      pit: { id: 'x' },
      slice: { id: 0, max: 2 },
      indices_boost: [{ 'service-logs-globex': 2 }],
      explain: true as unknown as object,
      profile: true as unknown as object,
      ext: {},
      search_pipeline: {},
      collapse: { field: 'service', inner_hits: { name: 'x', size: 5 } },
      sort: { _script: { type: 'number', script: { source: '1' } } },
      highlight: { fields: { message: { highlight_query: { match_all: {} } } } },
    }
    for (const [name, value] of Object.entries(members))
      it(`by the member ${name}: 403`, async () => {
        expect((await search({ [name]: value })).status).to.equal(403)
      })
    it('by a sort within nested documents: 403', async () => {
      expect((await search({ sort: [{ service: { nested: { path: 'x', filter: { match_all: {} } } } }] })).status).to.equal(403)
    })

    const aggregations: Readonly<Record<string, object>> = {
      global: { global: {}, aggs: { s: { terms: { field: 'service' } } } },
      'global within a filter': { filter: { match_all: {} }, aggs: { g: { global: {}, aggs: {} } } },
      'terms with min_doc_count 0': { terms: { field: 'service', min_doc_count: 0 } },
      'terms with min_doc_count "0"': { terms: { field: 'service', min_doc_count: '0' } },
      'terms with a script': { terms: { script: { source: '1' } } },
      'a metric with a script': { avg: { field: 'x', script: '1' } },
      scripted_metric: { scripted_metric: { map_script: 'x', combine_script: 'x', reduce_script: 'x' } },
      significant_terms: { significant_terms: { field: 'service' } },
      significant_text: { significant_text: { field: 'message' } },
      'a filter with a look-up': { filter: { terms: { service: { index: DAY, id: 'theirs', path: 'service' } } } },
      'filters with a script': { filters: { filters: { a: { script: {} } } } },
      'top hits with a script': { top_hits: { script_fields: { x: { script: '1' } } } },
      bucket_script: { bucket_script: { buckets_path: {}, script: '1' } },
      'a composite with a script': { composite: { sources: [{ a: { terms: { script: { source: '1' } } } }] } },
      children: { children: { type: 'x' } },
    }
    for (const [name, aggregation] of Object.entries(aggregations))
      for (const member of ['aggs', 'aggregations'])
        it(`by the aggregation ${name} in ${member}: 403`, async () => {
          expect((await search({ size: 0, [member]: { a: aggregation } })).status).to.equal(403)
        })

    for (const parameter of [
      'q=*',
      'source={"query":{"match_all":{}}}&source_content_type=application/json',
      'index=service-config',
      'routing=x',
      'preference=_local',
      'scroll=1m',
      'search_pipeline=x',
      'Q=*',
      'df=message',
      'ccs_minimize_roundtrips=false',
      'expand_wildcards=all',
    ])
      for (const operation of ['_search', '_count'])
        it(`by the parameter ${parameter} of ${operation}: 403`, async () => {
          expect((await harness.call(`/api/search/service-logs-*/${operation}?${encodeURI(parameter)}`, { body: {} })).status).to.equal(403)
        })

    const paths = [
      ...[
        '',
        '/',
        '/_search',
        '/_msearch',
        '/_mget',
        '/_count',
        '/_all/_search',
        '/_bulk',
        '/_cat',
        '/_cat/aliases',
        '/_cat/indices/service-*?format=json',
        '/_cat/shards',
        '/_cluster/state',
        '/_cluster/health/service-config',
        '/_nodes',
        '/_aliases',
        '/_mapping',
      ],
      ...[
        `/${DAY}`,
        `/${DAY}/_doc/theirs`,
        `/${DAY}/_source/theirs`,
        `/${DAY}/_mget`,
        `/${DAY}/_msearch`,
        `/${DAY}/_mapping`,
        `/${DAY}/_explain/theirs`,
        `/${DAY}/_termvectors/theirs`,
        `/${DAY}/_validate/query`,
        `/${DAY}/_delete_by_query`,
        `/${DAY}/_update/theirs`,
      ],
      ...[
        `/${DAY}/_search/template`,
        `/${DAY}/_search/scroll`,
        `/${DAY}/_search/point_in_time`,
        `/${DAY}/_field_caps`,
        '/_sql',
        '/_plugins/_sql',
        '/_plugins/_ppl',
        '/_plugins/_security/api/account',
        '/_snapshot',
        '/_tasks',
        '/_search/scroll',
        '/_scripts/x',
        '/_reindex',
      ],
    ]
    for (const path of paths)
      it(`by ${path || 'the root'}: 403`, async () => {
        for (const method of ['GET', 'POST']) {
          const answer = await harness.call(`/api/search${path}`, { method, ...(method === 'POST' && { body: {} }) })
          expect([path, answer.status]).to.deep.equal([path, 403])
        }
      })
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      it(`by ${method}`, async () => {
        for (const path of [DAY, `${DAY}/_doc/theirs`, `${DAY}/_search`, '_cluster/health', '_cat/indices?format=json'])
          expect([403, 405]).to.include((await harness.call(`/api/search/${path}`, { method, body: {} })).status)
      })
    for (const parameter of ['level=indices', 'level=shards', 'local=true'])
      it(`by _cluster/health?${parameter}: 403`, async () => {
        expect((await harness.call(`/api/search/_cluster/health?${parameter}`)).status).to.equal(403)
      })
  })

  describe('is held to the bounds of a search', () => {
    const nest = (levels: number) =>
      Array.from({ length: levels }).reduce<object>(inner => ({ bool: { must: [inner] } }), { match_all: {} })
    it('400 for a query nested deeper than 100 levels', async () => {
      expect((await search({ query: nest(100) })).status).to.equal(400)
      expect((await search(`{"query":${'{"bool":{"must":['.repeat(5_000)}{"match_all":{}}${']}}'.repeat(5_000)}}`)).status).to.equal(400)
      expect((await search({ query: nest(99) })).status).to.equal(200)
    })
    it('as wide as without a key: the filter of the tenant takes no level, no clause and no byte of them', async () => {
      const clauses = (count: number) => ({
        query: { bool: { should: Array.from({ length: count }, () => ({ term: { level: 'INFO' } })) } },
      })
      expect((await search(clauses(1023))).status).to.equal(200)
      expect((await search(clauses(1024))).status).to.equal(400)
      const sized = (bytes: number) => {
        const around = JSON.stringify({ query: { term: { message: '' } } }).length
        return { query: { term: { message: 'x'.repeat(bytes - around) } } }
      }
      expect((await search(sized(1 << 20))).status).to.equal(200)
      expect((await search(sized((1 << 20) + 1))).status).to.equal(400)
    })
    it('400 for a query larger than 1 MiB', async () => {
      expect((await search({ query: { term: { message: 'x'.repeat(1 << 20) } } })).status).to.equal(400)
    })
    it('400 for what is no JSON', async () => {
      expect((await search('{"query"')).status).to.equal(400)
    })
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['zstd', zstdCompressSync],
    ] as const)
      it(`the same packed with ${encoding}, as clients of OpenSearch do that compress`, async () => {
        const packed = (body: string | Buffer) => search(body, undefined, { headers: { 'content-encoding': encoding } })
        const query = JSON.stringify({ query: { match_all: {} }, sort: ['log_id'] })
        const plain = (await search(query)).json()
        expect((await packed(pack(query))).json()['hits']).to.deep.equal(plain['hits'])
        expect((await packed(pack('{"query"'))).status).to.equal(400)
        expect((await packed(pack('{"query":{"script":{}}}'))).status).to.equal(403)
        expect((await packed(query)).status).to.equal(400)
        expect((await packed(pack(`{"query":{"match_all":{}}${' '.repeat(1 << 20)}}`))).status).to.equal(400)
      })
    it('415 for what is packed another way', async () => {
      const headers = { 'content-encoding': 'compress' }
      expect((await search('{}', undefined, { headers })).status).to.equal(415)
    })
    it('integers beyond those of JavaScript stay as they are written', async () => {
      expect((await search('{"query":{"term":{"severity_number":9007199254740993}}}')).status).to.be.oneOf([200, 400])
    })
  })

  describe('cannot speak for another tenant at the other services', () => {
    const headers: readonly Record<string, string | string[]>[] = [
      { 'x-service-tenant-id': 'globex' },
      { 'X-Service-Tenant-Id': 'globex' },
      { 'x-service-tenant-id': ['globex', 'acme'] },
      { 'X-SERVICE-TENANT-ID': '' },
      { x_service_tenant_id: 'globex' },
      { 'x-service_tenant-id': 'globex' },
      { connection: 'x-service-tenant-id, keep-alive', 'x-service-tenant-id': 'globex' },
      { 'x-original-url': '/api/v1/config', 'x-rewrite-url': '/x', 'x-http-method-override': 'DELETE' },
    ]
    for (const sent of headers)
      it(`by the header ${JSON.stringify(sent)}`, async () => {
        await harness.call('/api/ticketing/api/incidents', { headers: sent })
        const [{ headers: seen, method, url }] = harness.asked as [Harness['asked'][0]]
        expect([seen['x-service-tenant-id'], method, url]).to.deep.equal(['acme', 'GET', '/api/incidents'])
        const names = Object.keys(seen).filter(name => /tenant|override|original|rewrite/.test(name))
        expect(names).to.deep.equal(['x-service-tenant-id'])
      })

    it('by pseudo-headers of HTTP/2', async () => {
      const session = connect(`https://127.0.0.1:${harness.gateway.port}`, { ca: harness.certificate.cert })
      const stream = session.request({
        [constants.HTTP2_HEADER_PATH]: '/api/ticketing/api/incidents',
        [constants.HTTP2_HEADER_AUTHORITY]: 'globex.example',
        'x-service-api-key': harness.key,
        'x-service-tenant-id': 'globex',
      })
      const status = await new Promise(resolve => {
        stream.on('response', head => resolve(head[':status']))
        stream.resume()
      })
      session.close()
      expect([status, harness.asked[0]!.headers['x-service-tenant-id']]).to.deep.equal([200, 'acme'])
      expect(harness.asked[0]!.headers.host).to.not.contain('globex')
    })

    const incidents = 'GET /api/ticketing/api/incidents HTTP/1.1'
    const analyse = 'POST /api/ticketing/api/v1/analyze HTTP/1.1'
    const chunked = 'Transfer-Encoding: chunked'
    const framings: Readonly<Record<string, readonly [line: string, headers: readonly string[], body?: string]>> = {
      'a target with a host': ['GET https://globex/api/bridge/metrics HTTP/1.1', []],
      'a target that is a host': ['CONNECT globex:9200 HTTP/1.1', []],
      'a target for the whole server': ['OPTIONS * HTTP/1.1', []],
      'two lengths': [analyse, ['Content-Length: 2', 'Content-Length: 40'], '{}'],
      'a list of lengths': [analyse, ['Content-Length: 2, 2'], '{}'],
      'chunks that are not the last encoding': [analyse, ['Transfer-Encoding: chunked, identity'], '2\r\n{}\r\n0\r\n\r\n'],
      'an encoding that looks like chunks': [analyse, ['Transfer-Encoding: xchunked', 'Content-Length: 2'], '{}'],
      'chunks announced twice': [analyse, [chunked, chunked], '2\r\n{}\r\n0\r\n\r\n'],
      'a request within the extension of a chunk': [analyse, [chunked], `2;a="\r\n${incidents}\r\n\r\n"\r\n{}\r\n0\r\n\r\n`],
      'chunks with bare line feeds': [analyse, [chunked], '2\n{}\n0\n\n'],
      'a chunk larger than numbers are': [analyse, [chunked], 'fffffffffffffffff2\r\n{}\r\n0\r\n\r\n'],
      'a tenant behind the body': [
        analyse,
        [chunked, 'Trailer: x-service-tenant-id'],
        '2\r\n{}\r\n0\r\nx-service-tenant-id: globex\r\n\r\n',
      ],
      'a folded line': [incidents, ['x-a: b', ' x-service-tenant-id: globex']],
      'a space before the colon': [incidents, ['x-service-tenant-id : globex']],
      'a bare carriage return': [incidents, ['x-a: b\rx-service-tenant-id: globex']],
      'HTTP/1.0': ['GET /api/ticketing/api/incidents HTTP/1.0', ['x-service-tenant-id: globex']],
      'an upgrade to HTTP/2': [incidents, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']],
      'an upgrade to a web socket': [incidents, ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']],
      'words of a proxy': [incidents, ['Forwarded: host=globex', 'X-Forwarded-Prefix: /globex']],
      'an expectation that nobody knows': [incidents, ['Expect: globex']],
    }
    for (const [name, [line, headers, body = '']] of Object.entries(framings))
      it(`by ${name}`, async () => {
        const answer = await harness.raw([line, 'Host: x', `x-service-api-key: ${harness.key}`, ...headers, '', body].join('\r\n'))
        expect(answer).to.match(/^(HTTP\/1.1 (200|400|403|405) |$)/)
        expect(harness.asked.length).to.be.at.most(1)
        for (const { headers: seen, backEnd } of harness.asked) {
          expect([backEnd, seen['x-service-tenant-id']]).to.deep.equal(['ticketing', 'acme'])
          expect(JSON.stringify(seen)).to.not.contain('globex')
        }
      })

    it('by an expectation, without a key: 401', async () => {
      expect(await harness.raw(`${incidents}\r\nHost: x\r\nExpect: globex\r\n\r\n`)).to.match(/^HTTP\/1.1 401 /)
    })

    it('by the key of the request before on the connection: 401', async () => {
      const first = `GET /health HTTP/1.1\r\nHost: x\r\nx-service-api-key: ${harness.key}\r\n\r\n`
      expect(await harness.raw(`${first}${incidents}\r\nHost: x\r\n\r\n`)).to.match(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 401 /)
      expect(harness.asked).to.deep.equal([])
    })

    it('by two requests in one', async () => {
      const smuggled = `GET /api/v1/config HTTP/1.1\r\nHost: x\r\nx-service-tenant-id: globex\r\n\r\n`
      const text = [
        `POST /api/ticketing/api/v1/test-llm HTTP/1.1`,
        'Host: x',
        `x-service-api-key: ${harness.key}`,
        `Content-Length: ${smuggled.length}`,
        'Transfer-Encoding: chunked',
        '',
        `0\r\n\r\n${smuggled}`,
      ].join('\r\n')
      const answer = await harness.raw(text)
      expect(answer).to.match(/^HTTP\/1.1 400 /)
      for (const { headers: seen } of harness.asked) expect(seen['x-service-tenant-id']).to.equal('acme')
    })

    const paths = [
      '/api/ticketing/../bridge/metrics',
      '/api/ticketing/%2e%2e/bridge/metrics',
      '/api/bridge/%2fmetrics',
      '/api/bridge//metrics',
      '/api//bridge/metrics',
      '/api/bridge/x%2f..%2fmetrics',
      '/api/bridge/x/..%5cmetrics',
      '/api/bridge/metrics%00',
      '/api/bridge/%',
      'http://other/api/bridge/metrics',
      '/api/bridge/./metrics',
      '//api/bridge/metrics',
    ]
    for (const path of paths)
      it(`by the path ${path}`, async () => {
        expect([400, 403, 404]).to.include((await harness.call(path)).status)
        expect(harness.asked).to.deep.equal([])
      })

    const forAdmins: readonly (readonly [method: string, path: string])[] = [
      ['GET', '/api/bridge/metrics'],
      ['HEAD', '/api/bridge/metrics'],
      ['GET', '/api/bridge/METRICS'],
      ['GET', '/api/bridge/metrics/'],
      ['GET', '/api/bridge/m%65trics'],
      ['PATCH', '/api/bridge/config'],
      ['PATCH', '/api/bridge/CONFIG/'],
      ['POST', '/api/bridge/config'],
      ['GET', '/api/ticketing/metrics'],
      ['GET', '/api/features/metrics'],
      ['GET', '/api/airflow/metrics'],
      ['PATCH', '/api/airflow/api/v2/dags/feature_compute'],
      ['GET', '/metrics'],
    ]
    for (const [method, path] of forAdmins)
      it(`${method} ${path} is for ADMIN_TENANTS alone`, async () => {
        const body = method === 'PATCH' || method === 'POST' ? { body: {} } : {}
        expect((await harness.call(path, { method, ...body })).status).to.equal(403)
        expect(harness.asked).to.deep.equal([])
        expect((await harness.call(path, { method, key: harness.adminKey, ...body })).status).to.equal(200)
      })

    it('GET /config of the bridge is for all', async () => {
      expect((await harness.call('/api/bridge/config')).status).to.equal(200)
    })
  })
})
