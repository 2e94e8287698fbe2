import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { backendAddress } from '../../hack/real/address.ts'
import { differenceOf } from './testing/comparison/compare-answers.ts'
import { comparedDocuments } from './testing/comparison/compared-documents.ts'
import { type ComparedRequest, comparedRequests, misfitRequests } from './testing/comparison/compared-requests.ts'
import { comparedTexts } from './testing/comparison/compared-texts.ts'
import { startTwoStores, type TwoStores } from './testing/comparison/two-stores.ts'

export const needs = ['opensearch']

/** `COMPARE_CASES=10000 COMPARE_SEED=$RANDOM npm run test:real same-answers` looks further. */
const CASES = Number(process.env['COMPARE_CASES'] ?? 1_000)
const SEED = Number(process.env['COMPARE_SEED'] ?? 20261121)
const DOCUMENTS_SEED = 7

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

  it('the words of a text', () =>
    fc.assert(
      fc.asyncProperty(comparedTexts, async text => {
        const [real, embedded] = await stores.ask('POST', '/_analyze', { analyzer: 'standard', text })
        expect(embedded.body.tokens.map(wordOf)).to.deep.equal(real.body.tokens.map(wordOf))
      }),
      { seed: SEED, numRuns: CASES },
    ))

  it('what is malformed or does not fit its field', () => hold(misfitRequests, Math.ceil(CASES / 2)))
})
