import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from './testing/test-store.ts'

const INDEX = 'service-logs-2026.11.21'
const TABLE = 'incidents-of-names'
const ON_PROTOTYPE = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', '__proto__', '__defineGetter__']

/** Looked up on, or assigned to, an object with a prototype, this name throws. */
const TRAP = 'trapped_name'

/** `{ name: value }` with own members alone, `__proto__` too. */
const own = (...members: readonly (readonly [string, unknown])[]) => Object.fromEntries(members)

function setTrap(): void {
  const caught = (): never => {
    throw new Error('a name from outside came to a prototype')
  }
  Object.defineProperty(Object.prototype, TRAP, { get: caught, set: caught, configurable: true })
}

describe('names from outside that every object has, too', () => {
  let store: TestStore

  before(async () => {
    setTrap()
    store = await startTestStore()
  })
  after(async () => {
    await store.stop()
    expect(store.logged).to.deep.equal([])
    delete (Object.prototype as unknown as Record<string, unknown>)[TRAP]
  })

  /** A tail of so many documents is sealed when the store stops. */
  const seal = async (index: string) => {
    const filler = index.startsWith('service-logs') ? `{"create":{}}\n{"filler":1}\n`.repeat(8300) : ''
    if (filler !== '') expect((await store.request('POST', `/${index}/_bulk`, filler)).body.errors).to.equal(false)
    await store.restart()
  }

  const search = async (index: string, body: unknown) => {
    const answer = await store.request('POST', `/${index}/_search`, body)
    expect(answer.status, `${JSON.stringify(body)} ${answer.text}`).to.equal(200)
    return answer.body
  }

  for (const index of [INDEX, TABLE])
    for (const name of [...ON_PROTOTYPE, TRAP]) {
      it(`are fields like any other in ${index}: ${name}`, async () => {
        const target = `${index}${index === TABLE ? `-${ON_PROTOTYPE.indexOf(name)}` : ''}`
        const id = `doc-${name}`
        const document = own(
          [name, `needle ${name}`],
          ['nested', own([name, 'inside'])],
          ['message', `about ${name}`],
          ['timestamp', '2026-11-21T12:00:00Z'],
        )
        for (const path of [`/${target}/_doc/${id}`, `/${target}/_doc/other-${id}`]) {
          const written = await store.request('PUT', path, document)
          expect(written.status, written.text).to.equal(201)
        }
        for (const round of ['in memory', 'sealed']) {
          const found = [
            { query_string: { query: 'needle' } },
            { query_string: { query: `needle`, fields: [name] } },
            { simple_query_string: { query: 'needle' } },
            { multi_match: { query: 'needle' } },
            { match: own([name, 'needle']) },
            { match_phrase: own([name, `needle ${name}`]) },
            { wildcard: own([name, 'need*']) },
            { prefix: own([name, 'need']) },
            { term: own([`${name}.keyword`, `needle ${name}`]) },
            { terms: own([`nested.${name}.keyword`, ['inside']]) },
            { exists: { field: name } },
            { exists: { field: `nested.${name}` } },
          ]
          for (const query of found) {
            const { hits } = await search(target, {
              query: { bool: { must: [query], filter: [{ ids: { values: [id, `other-${id}`] } }] } },
            })
            expect(hits.total.value, `${round} ${JSON.stringify(query)}`).to.equal(2)
          }
          for (const query of [
            { query_string: { query: 'absent' } },
            { term: own([`absent.${name}`, 'x']) },
            { range: own([`a.${name}`, { gt: 1 }]) },
          ])
            expect((await search(target, { query })).hits.total.value).to.equal(0)
          const body = await search(target, {
            query: { ids: { values: [id] } },
            sort: [own([`${name}.keyword`, 'asc'])],
            _source: [name, `nested.${name}`],
            highlight: { fields: own([name, {}]) },
            docvalue_fields: [`${name}.keyword`],
            aggs: own(
              [name, { terms: { field: `${name}.keyword` }, aggs: own([name, { cardinality: { field: `nested.${name}.keyword` } }]) }],
              ['absent', { terms: { field: `absent.${name}` } }],
            ),
          })
          const [hit] = body.hits.hits
          expect(JSON.stringify(hit._source)).to.equal(JSON.stringify(own([name, `needle ${name}`], ['nested', own([name, 'inside'])])))
          expect(hit.sort).to.deep.equal([`needle ${name}`])
          expect(JSON.stringify(hit.fields)).to.equal(JSON.stringify(own([`${name}.keyword`, [`needle ${name}`]])))
          expect(Object.entries(body.aggregations).find(([key]) => key === name)).to.have.nested.property('1.buckets.0.doc_count', 1)
          expect(body.aggregations.absent.buckets).to.deep.equal([])
          if (round === 'in memory') await seal(target)
        }
        const filtered = await store.request('GET', `/${target}/_doc/${id}?filter_path=_source.${name}`)
        expect(filtered.text).to.equal(JSON.stringify({ _source: own([name, `needle ${name}`]) }))
        const updated = await store.request('POST', `/${target}/_update/${id}`, {
          doc: own(['nested', own([name, 'changed'], ['more', 1])]),
        })
        expect(updated.status, updated.text).to.equal(200)
        const upserted = await store.request('POST', `/${target}/_update/new-${id}`, { doc: own([name, 'x']), doc_as_upsert: true })
        expect(upserted.status, upserted.text).to.equal(201)
        expect((await store.request('GET', `/${target}/_source/new-${id}`)).text).to.equal(JSON.stringify(own([name, 'x'])))
        const read = await store.request('GET', `/${target}/_source/${id}`)
        expect(read.text).to.equal(
          JSON.stringify(
            own(
              [name, `needle ${name}`],
              ['nested', own([name, 'changed'], ['more', 1])],
              ['message', `about ${name}`],
              ['timestamp', '2026-11-21T12:00:00Z'],
            ),
          ),
        )
        const mapping = await store.request('GET', `/${target}/_mapping/field/${name},${name}.keyword`)
        expect(mapping.text).to.contain(`"full_name":${JSON.stringify(name)}`)
        expect((await store.request('GET', `/${target}/_field_caps?fields=${name}*`)).text).to.contain(`${JSON.stringify(name)}:{"text"`)
      })
    }

  for (const name of [...ON_PROTOTYPE, TRAP])
    it(`are refused where they mean nothing: ${name}`, async () => {
      const refused: readonly (readonly [string, string, unknown])[] = [
        ['POST', '/_search', { query: own([name, {}]) }],
        ['POST', '/_search', { aggs: { a: own([name, {}]) } }],
        ['POST', '/_search', { aggs: { a: { date_histogram: { field: 'timestamp', calendar_interval: name } } } }],
        ['POST', '/_search', { aggs: { a: { date_histogram: { field: 'timestamp', fixed_interval: `1${name}` } } } }],
        ['POST', '/_search', { timeout: `1${name}` }],
        ['POST', `/${INDEX}/_search`, { query: { range: { timestamp: { gte: 'now', format: name } } } }],
        ['POST', `/${INDEX}/_search`, { query: { range: { timestamp: { gte: `now-1${name}` } } } }],
        ['POST', '/_search', own([name, 1])],
        ['PUT', `/new-${name.toLowerCase().replaceAll('_', '-')}`, { mappings: { properties: { x: { type: name } } } }],
        ['POST', '/_bulk', `${JSON.stringify(own([name, {}]))}\n{}\n`],
        ['GET', `/_cat/indices?${name}=1`, undefined],
      ]
      for (const [method, path, body] of refused) {
        const answer = await store.request(method, path, body)
        expect(answer.status, `${path} ${JSON.stringify(body)} ${answer.text}`).to.equal(400)
      }
      for (const path of [`/${name}/_search`, `/_${name}`, `/${INDEX}/_doc/${name}`, `/_cat/aliases/${name}`, `/_alias/${name}`])
        expect((await store.request('GET', path)).status, path).to.be.oneOf([200, 400, 404])
      const settings = await store.request('PUT', `/${INDEX}/_settings`, { index: { routing: own([name, own(['a', 1])]) } })
      expect(settings.status, settings.text).to.equal(200)
      expect((await store.request('PUT', `/${INDEX}/_settings`, { index: own([name, 1]) })).status).to.equal(400)
      expect((await store.request('GET', `/${INDEX}/_settings`)).text).to.contain(`${JSON.stringify(name)}:{"a":"1"}`)
      expect((await store.request('POST', '/_bulk', `{"index":{"_index":"${INDEX}","_id":"${name}"}}\n{"a":1}\n`)).status).to.equal(200)
    })

  it('are members of an object in whatever place it is wrong', async () => {
    const odd = { constructor: 1, toString: 1, valueOf: 1, hasOwnProperty: 1 }
    const match = (options: object) => ({ query: { match: { message: { query: 'a', ...options } } } })
    const requests: readonly (readonly [string, string, unknown])[] = [
      ['POST', '_search', { query: { bool: { minimum_should_match: odd } } }],
      ['POST', '_search', { size: odd, from: [odd], timeout: odd, track_total_hits: odd }],
      ['POST', '_search', match({ analyzer: odd })],
      ['POST', '_search', match({ operator: odd, lenient: odd, boost: odd, fuzziness: odd, zero_terms_query: odd })],
      ['POST', '_search', { query: { range: { nanos: { gte: odd, format: odd, time_zone: odd } } } }],
      ['POST', '_search', { query: { term: { message: { value: odd, case_insensitive: odd } } } }],
      ['POST', '_search', { aggs: { a: { terms: { field: 'message', min_doc_count: odd } } } }],
      ['POST', '_search', { aggs: { a: { histogram: { field: 'nanos', interval: odd, min_doc_count: odd, missing: odd } } } }],
      ['POST', '_search', { sort: [{ message: { order: odd, mode: odd, missing: odd } }], search_after: [odd] }],
      ['POST', '_search', { highlight: { no_match_size: [odd], fields: { message: { number_of_fragments: odd, type: odd } } } }],
      ['POST', '_field_caps', { fields: [odd] }],
      ['POST', '_field_caps', { fields: odd }],
      ['PUT', '_mapping', { properties: { a: { type: odd } } }],
      ['PUT', '_mapping', { properties: { a: { type: 'keyword', ignore_above: odd } } }],
      ['PUT', '_mapping', { properties: { a: { type: 'object', dynamic: odd } } }],
      ['PUT', '_settings', { 'index.mapping.total_fields.limit': [odd] }],
      ['PUT', '_alias/odd', { routing: odd, index_routing: odd, filter: odd }],
      ['POST', '_mget', { docs: [{ _index: odd, _id: odd, _source: odd }] }],
      ['POST', '_delete_by_query', { query: odd, conflicts: odd, max_docs: odd }],
      ['POST', '_update_by_query', { query: odd, conflicts: odd, max_docs: odd, script: odd }],
    ]
    await store.request('PUT', '/odd-index')
    for (const [method, operation, body] of requests) {
      const { status, text } = await store.request(method, `/odd-index/${operation}`, body)
      expect(status, `${operation} ${JSON.stringify(body)} ${text}`).to.be.below(500)
      if (operation !== '_search') continue
      const answer = await store.request(
        'POST',
        '/_msearch',
        `${JSON.stringify({ index: 'odd-index', preference: odd })}\n${JSON.stringify(body)}\n`,
      )
      expect(answer.status, answer.text).to.equal(200)
    }
    for (const mappings of [
      { dynamic: odd },
      { date_detection: odd },
      { dynamic_templates: [{ a: { match: odd, mapping: { type: odd } } }] },
    ])
      expect((await store.request('PUT', '/odder-index', { mappings })).status, JSON.stringify(mappings)).to.be.below(500)
    expect((await store.request('PUT', '/odd-index/_doc/1', { a: odd })).status).to.be.below(500)
  })
})
