import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { backendAddress } from '../testing/real/address.ts'
import { differenceOf } from './testing/comparison/compare-answers.ts'
import { comparedDocuments, type Json } from './testing/comparison/compared-documents.ts'
import { ALL_HITS, type ComparedRequest, comparedRequests, misfitRequests } from './testing/comparison/compared-requests.ts'
import { comparedTexts } from './testing/comparison/compared-texts.ts'
import { comparedWrites, renamed } from './testing/comparison/compared-writes.ts'
import { partOf, RECORDED_ANSWERS, RECORDED_DOCUMENTS, RECORDED_MAPPING } from './testing/comparison/recorded-answers.ts'
import { startTwoStores, type TwoStores } from './testing/comparison/two-stores.ts'
import { jsonOf, TYPED_INDEX, TYPED_LOGS, TYPED_MAPPING, typedDocuments } from './testing/comparison/typed-documents.ts'
import { TYPED_REQUESTS } from './testing/comparison/typed-requests.ts'

export const needs = ['opensearch']

/** `COMPARE_CASES=10000 COMPARE_SEED=$RANDOM npm run test:real same-answers` looks further. */
const CASES = Number(process.env['COMPARE_CASES'] ?? 1_000)
const SEED = Number(process.env['COMPARE_SEED'] ?? 20261121)
const DOCUMENTS_SEED = 7

const UNSUPPORTED: readonly { readonly name: string; readonly body: Json }[] = [
  { name: 'function_score', body: { query: { function_score: { query: { match_all: {} } } } } },
  {
    name: 'post_filter',
    body: { post_filter: { match_all: {} }, terminate_after: 1, aggs: { a: { terms: { field: 'service' } } } },
  },
  { name: 'collapse', body: { collapse: { field: 'service' } } },
  { name: 'min_score', body: { min_score: 0.1 } },
  { name: 'significant_terms', body: { aggs: { a: { significant_terms: { field: 'service' } } } } },
  { name: 'no_match_size', body: { highlight: { fields: { message: { no_match_size: 10 } } } } },
]

const TERMS_NEARBY: readonly Json[] = [
  { fuzzy: { service: 'cart' } },
  { fuzzy: { message: { value: 'timeot', fuzziness: 2 } } },
  { regexp: { service: 'c.*' } },
  { regexp: { service: '[a-c].+|p[^a]+' } },
  { match: { message: { query: 'timeout', fuzziness: 'AUTO' } } },
  { match: { message: { query: 'conection refusd', fuzziness: 'AUTO', operator: 'and' } } },
  { query_string: { query: 'timeot~1 OR service:/c.*/' } },
]

const TYPED_COUNT = 150
const statusOfCreation = ({ create }: { readonly create: { readonly status: number } }) => create.status
const statusOf = ({ index }: { readonly index: { readonly status: number } }) => index.status

interface Hit {
  readonly fields: Readonly<Record<string, readonly number[]>>
}

/** The fields whose name starts with `prefix`. */
function fieldsOf(index: { readonly mappings?: { readonly properties?: Json } } | undefined, prefix: string): Json {
  return Object.fromEntries(Object.entries(index?.mappings?.properties ?? {}).filter(([name]) => name.startsWith(prefix)))
}

/** Types of words are the tokenizer's own. */
const wordOf = ({ token, start_offset, end_offset, position }: Record<string, unknown>) => ({ token, start_offset, end_offset, position })

describe('the embedded store answers like OpenSearch, or says what it does not support', function () {
  this.timeout(30_000 + CASES * 100)
  let stores: TwoStores

  before(async () => {
    stores = await startTwoStores(backendAddress('opensearch'), 'service-logs-*,compare-*')
    await stores.load(comparedDocuments(DOCUMENTS_SEED, Date.now()))
    const [{ body: indices }] = await stores.ask('GET', '/_cat/indices/service-logs-*?format=json&h=index')
    for (const { index } of indices as readonly { index: string }[])
      await stores.ask('PUT', `/${index}/_alias/service-logs-acme`, { filter: { term: { tenant_id: 'acme' } } })
  })
  after(() => stores?.stop())

  async function expectSame({ path, body }: ComparedRequest): Promise<void> {
    const [real, embedded] = await stores.ask('POST', path, body)
    const difference = differenceOf(real, embedded)
    expect(difference, `OpenSearch and the embedded store differ at ${difference}`).to.equal(undefined)
  }

  const hold = (requests: fc.Arbitrary<ComparedRequest>, numRuns: number) =>
    fc.assert(fc.asyncProperty(requests, expectSame), { seed: SEED, numRuns })

  it('hits, totals, order, pages, parts of documents, highlights, aggregations', () => hold(comparedRequests, CASES))

  it('terms nearby, and combinations of values', async () => {
    const aggs = {
      services: { terms: { field: 'service', size: 100 } },
      pairs: { composite: { size: 50, sources: [{ s: { terms: { field: 'service' } } }, { l: { terms: { field: 'level' } } }] } },
    }
    for (const query of [{ match_all: {} }, ...TERMS_NEARBY])
      await expectSame({ path: '/service-logs-*/_search', body: { size: 0, track_total_hits: true, query, aggs } })
  })

  it('the words of a text', () =>
    fc.assert(
      fc.asyncProperty(comparedTexts, async text => {
        const [real, embedded] = await stores.ask('POST', '/_analyze', { analyzer: 'standard', text })
        expect(embedded.body.tokens.map(wordOf)).to.deep.equal(real.body.tokens.map(wordOf))
      }),
      { seed: SEED, numRuns: CASES },
    ))

  it('percentiles lie within a few ranks of the value they estimate', async () => {
    const field = 'severity_number'
    const percents = [0, 1, 10, 25, 50, 75, 90, 99, 99.9, 100]
    const body = { size: ALL_HITS, docvalue_fields: [field], aggs: { p: { percentiles: { field, percents, keyed: false } } } }
    for (const { body: answer } of await stores.ask('POST', '/service-logs-*/_search', body)) {
      const values = (answer.hits.hits as Hit[]).map(({ fields }) => fields[field]![0]!).sort((a, b) => a - b)
      for (const { key, value } of answer.aggregations.p.values as readonly { key: number; value: number }[]) {
        const rank = Math.floor((key / 100) * values.length)
        const near = (ranks: number) => values[Math.max(0, Math.min(values.length - 1, rank + ranks))]
        expect(value, `${key} %`).to.be.within(near(-8)!, near(8)!)
      }
    }
  })

  for (const { name, body } of UNSUPPORTED)
    it(`${name}: OpenSearch answers, the embedded store names it`, async () => {
      const [real, embedded] = await stores.ask('POST', '/service-logs-*/_search', body)
      expect(real.status, JSON.stringify(real.body)).to.equal(200)
      expect(embedded.status).to.equal(400)
      expect(embedded.body.error.reason).to.contain(`[${name}]`).and.to.contain('not supported by the embedded search store')
    })

  it('the answers that OpenSearch was seen to give are those that it gives', async () => {
    const index = 'compare-recorded'
    const lines = RECORDED_DOCUMENTS.map((document, at) => `{"create":{"_index":"${index}","_id":"${at}"}}\n${document}\n`)
    await stores.ask('PUT', `/${index}`, { mappings: RECORDED_MAPPING })
    await stores.ask('POST', '/_bulk?refresh=true', lines.join(''))
    for (const { title, body, at, is } of RECORDED_ANSWERS) {
      const answer = await fetch(`${backendAddress('opensearch')}/${index}/_search`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
      expect(partOf(await answer.text(), at), title).to.deep.equal(is)
    }
  })

  it('what is malformed or does not fit its field', () => hold(misfitRequests, Math.ceil(CASES / 2)))

  it('which documents are taken, and the fields they bring', () => {
    let run = 0
    return fc.assert(
      fc.asyncProperty(comparedWrites, fc.constantFrom('compare-writes', 'service-logs-1999.01.01'), async (documents, index) => {
        const prefix = `k${++run}_`
        const lines = renamed(documents, prefix).map(
          (document, at) => `${JSON.stringify({ index: { _index: index, _id: `${prefix}${at}` } })}\n${JSON.stringify(document)}\n`,
        )
        const [real, embedded] = await stores.ask('POST', '/_bulk', lines.join(''))
        expect(embedded.body.items.map(statusOf)).to.deep.equal(real.body.items.map(statusOf))
        const [realFields, ownFields] = await stores.ask('GET', `/${index}/_mapping`)
        expect(fieldsOf(ownFields.body[index], prefix)).to.deep.equal(fieldsOf(realFields.body[index], prefix))
      }),
      { seed: SEED, numRuns: Math.ceil(CASES / 10) },
    )
  })

  describe('fields of every type, with odd values', () => {
    before(async () => {
      const indices = [TYPED_INDEX, TYPED_LOGS]
      for (const index of indices) {
        for (const { status, body } of await stores.ask('PUT', `/${index}`, { mappings: TYPED_MAPPING }))
          expect(status, JSON.stringify(body)).to.equal(200)
        const documents = typedDocuments(DOCUMENTS_SEED, TYPED_COUNT)
        const lines = documents.map((document, at) => `{"create":{"_index":"${index}","_id":"t${at}"}}\n${jsonOf(document)}\n`)
        const [real, embedded] = await stores.ask('POST', '/_bulk?refresh=true', lines.join(''))
        expect(embedded.body.items.map(statusOfCreation)).to.deep.equal(real.body.items.map(statusOfCreation))
      }
    })

    /** A request that OpenSearch refuses may be taken here. */
    async function expectNoOther({ path, body }: ComparedRequest): Promise<void> {
      const [real, embedded] = await stores.ask('POST', path, body)
      const difference = real.status >= 400 ? undefined : differenceOf(real, embedded)
      expect(difference, `OpenSearch and the embedded store differ at ${difference}`).to.equal(undefined)
    }

    for (const [name, requests] of Object.entries(TYPED_REQUESTS))
      it(name, () => fc.assert(fc.asyncProperty(requests, expectNoOther), { seed: SEED, numRuns: Math.ceil(CASES / 4) }))
  })
})
