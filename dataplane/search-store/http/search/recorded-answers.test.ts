import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { partOf, RECORDED_ANSWERS, RECORDED_DOCUMENTS, RECORDED_MAPPING } from '../../testing/comparison/recorded-answers.ts'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

/** A table and a log index. */
const INDICES = ['recorded', 'service-logs-recorded']

describe('answers that OpenSearch was seen to give', () => {
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    for (const index of INDICES) {
      await store.request('PUT', `/${index}`, { mappings: RECORDED_MAPPING })
      const lines = RECORDED_DOCUMENTS.map((document, at) => `{"create":{"_id":"${at}"}}\n${document}\n`)
      expect((await store.request('POST', `/${index}/_bulk`, lines.join(''))).body.errors).to.equal(false)
    }
  })
  after(() => store.stop())

  for (const { title, body, at, is } of RECORDED_ANSWERS)
    for (const index of INDICES)
      it(`${title} (${index})`, async () => {
        const { text } = await store.request('POST', `/${index}/_search`, body)
        expect(partOf(text, at), text).to.deep.equal(is)
      })

  it('options of a query text that would find other documents are refused by name', async () => {
    for (const type of ['phrase', 'cross_fields', 'phrase_prefix', 'bool_prefix']) {
      const { status, text } = await store.request('POST', '/recorded/_search', { query: { query_string: { query: 'a b', type } } })
      expect(status).to.equal(400)
      expect(text).to.contain(`[query_string] type [${type}] is not supported by the embedded search store`)
    }
    const leading = { query: { query_string: { query: '*isk', default_field: 'txt', allow_leading_wildcard: false } } }
    expect((await store.request('POST', '/recorded/_search', leading)).status).to.equal(400)
  })

  it('a type of numbers that would sort otherwise is refused by name', async () => {
    const sort = [{ lng: { numeric_type: 'double' } }]
    const { status, text } = await store.request('POST', '/recorded/_search', { sort })
    expect(status).to.equal(400)
    expect(text).to.contain('[numeric_type] [double] is not supported by the embedded search store')
    expect((await store.request('POST', '/recorded/_search', { sort: [{ lng: { numeric_type: 'long' } }] })).status).to.equal(200)
  })
})
