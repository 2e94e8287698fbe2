import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { BOTH_ENGINES, fillBoth, searchIn } from '../../testing/both-engines.ts'
import { useTestStore } from '../../testing/use-test-store.ts'

const MAPPINGS = {
  properties: {
    host: { type: 'keyword', normalizer: 'lowercase', ignore_above: 20 },
    text: { type: 'text', fields: { low: { type: 'keyword', normalizer: 'lowercase' } } },
    plain: { type: 'keyword' },
  },
}

const DOCUMENTS = [
  { host: 'Node-1', text: 'Read Timeout', plain: 'Node-1' },
  { host: ['NODE-1', 'node-2'], text: 'ok' },
  { host: 'ÄRGER', text: 'Ende' },
  { host: 'X'.repeat(21) },
]

describe('the normalizer lowercase', () => {
  const store = useTestStore()
  before(async () => {
    await fillBoth(store, MAPPINGS, DOCUMENTS)
  })

  for (const index of BOTH_ENGINES) {
    const search = (body: object) => searchIn(store, index, body)
    const found = async (query: object) => (await search({ query, sort: ['_doc'] })).hits.hits.map(({ _id }: { _id: string }) => _id)

    it(`finds values however they are written, on ${index}`, async () => {
      const both = ['d0', 'd1']
      expect(await found({ term: { host: 'nOdE-1' } })).to.deep.equal(both)
      expect(await found({ terms: { host: ['NODE-1', 'Ärger'] } })).to.deep.equal([...both, 'd2'])
      expect(await found({ match: { host: 'NODE-1' } })).to.deep.equal(both)
      expect(await found({ prefix: { host: 'NoDe' } })).to.deep.equal(both)
      expect(await found({ wildcard: { host: 'N*2' } })).to.deep.equal(['d1'])
      expect(await found({ regexp: { host: 'Node-.' } })).to.deep.equal(both)
      expect(await found({ fuzzy: { host: 'NODE-3' } })).to.deep.equal(both)
      expect(await found({ range: { host: { gte: 'NODE', lt: 'NODE-2' } } })).to.deep.equal(both)
      expect(await found({ query_string: { query: 'host:NODE-1' } })).to.deep.equal(both)
      expect(await found({ term: { 'text.low': 'read timeout' } })).to.deep.equal(['d0'])
      expect(await found({ bool: { must_not: { exists: { field: 'host' } } } })).to.deep.equal(['d3'])
      expect(await found({ term: { plain: 'node-1' } })).to.deep.equal([])
    })

    it(`groups, sorts and shows what is indexed, and leaves _source alone, on ${index}`, async () => {
      const { aggregations, hits } = await search({
        query: { term: { host: 'NODE-1' } },
        sort: [{ host: 'desc' }],
        fields: ['host'],
        highlight: { fields: { host: {} } },
        aggs: { hosts: { terms: { field: 'host' } }, names: { cardinality: { field: 'host' } } },
      })
      expect(aggregations.hosts.buckets).to.deep.equal([
        { key: 'node-1', doc_count: 2 },
        { key: 'node-2', doc_count: 1 },
      ])
      expect(aggregations.names.value).to.equal(2)
      expect(hits.hits[1]).to.deep.include({
        _source: DOCUMENTS[0],
        fields: { host: ['node-1'] },
        sort: ['node-1'],
        highlight: { host: ['<em>node-1</em>'] },
      })
    })
  }

  it('is the only one: others are refused by name', async () => {
    const { status, body } = await store.request('PUT', '/others', {
      settings: { analysis: { normalizer: { own: { type: 'custom', filter: ['lowercase'] } } } },
      mappings: { properties: { a: { type: 'keyword', normalizer: 'own' } } },
    })
    expect(status).to.equal(400)
    expect(body.error.reason).to.contain('[normalizer] of field [a] with the value [own]')
  })

  const redefinitions: Readonly<Record<string, object>> = {
    'index.analysis.analyzer.default.type': { analyzer: { default: { type: 'keyword' } } },
    'index.analysis.analyzer.default.stopwords': { analyzer: { default: { type: 'standard', stopwords: '_english_' } } },
    'index.analysis.analyzer.default_search.tokenizer': { analyzer: { default_search: { tokenizer: 'whitespace' } } },
    'index.analysis.analyzer.standard.max_token_length': { analyzer: { standard: { type: 'standard', max_token_length: 3 } } },
    'index.analysis.normalizer.lowercase.type': { normalizer: { lowercase: { type: 'custom', filter: ['uppercase'] } } },
  }
  for (const [name, analysis] of Object.entries(redefinitions))
    it(`has no other meaning, and no analyzer has that fields use unnamed: [${name}] is refused`, async () => {
      const requests: readonly (readonly [string, object])[] = [
        ['/others', { settings: { analysis } }],
        ['/_index_template/others', { index_patterns: ['others-*'], template: { settings: { index: { analysis } } } }],
        ['/_component_template/others', { template: { settings: { analysis } } }],
        ['/_template/others', { index_patterns: ['others-*'], settings: { analysis } }],
      ]
      for (const [path, body] of requests) {
        const answer = await store.request('PUT', path, body)
        expect(answer.status, path).to.equal(400)
        expect(answer.body.error.reason).to.contain(`setting [${name}] is not supported`)
      }
    })

  it('may stand beside analyzers that no field uses', async () => {
    const analysis = { analyzer: { default: { type: 'standard' }, own: { tokenizer: 'keyword', filter: ['lowercase', 'asciifolding'] } } }
    expect((await store.request('PUT', '/unused', { settings: { analysis } })).status).to.equal(200)
    const refused = await store.request('POST', '/unused/_analyze', { analyzer: 'own', text: 'a' })
    expect(refused.body.error.reason).to.contain('analyzer [own] is not supported')
    const query = { match: { a: { query: 'b', analyzer: 'own' } } }
    expect((await store.request('POST', '/unused/_search', { query })).status).to.equal(400)
  })
})
