import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

const INDEX = '/service-logs-2026.11.21'
const LONG = 'x'.repeat(20)

/** A value of a document, and the values that its hit shows. */
const CASES: readonly { readonly what: string; readonly value: unknown; readonly shown: readonly string[] | undefined }[] = [
  { what: 'a text', value: 'pay', shown: ['pay'] },
  { what: 'an empty text', value: '', shown: [''] },
  { what: 'a text with escapes', value: 'a "b"\n\\', shown: ['a "b"\n\\'] },
  { what: 'letters of several bytes', value: 'Zahlung für 東京', shown: ['Zahlung für 東京'] },
  { what: 'letters of several bytes, as long as it may be', value: '東'.repeat(16), shown: ['東'.repeat(16)] },
  { what: 'a number', value: 17, shown: ['17'] },
  { what: 'several texts', value: ['a', 'b'], shown: ['a', 'b'] },
  { what: 'null', value: null, shown: undefined },
  { what: 'nothing', value: undefined, shown: undefined },
  { what: 'a text longer than ignore_above', value: LONG, shown: undefined },
  { what: 'several texts, of which one is longer than ignore_above', value: ['a', LONG], shown: ['a'] },
]

describe('hits with single members', () => {
  let store: TestStore
  before(async function () {
    this.timeout(20_000)
    store = await startTestStore()
    const place = { type: 'keyword', ignore_above: 16 }
    await store.request('PUT', INDEX, {
      mappings: { properties: { service: { type: 'keyword' }, 'code.place': place, 'code.line': place } },
    })
    for (const [at, { value }] of CASES.entries())
      await store.request('PUT', `${INDEX}/_doc/${at}`, { service: `s${at}`, message: 'ö', 'code.place': value, 'code.line': '7' })
  })
  after(() => store.stop())

  const search = async (body: object) => {
    const { status, body: answer } = await store.request('POST', `${INDEX}/_search`, { size: 100, ...body })
    expect(status).to.equal(200)
    return answer.hits.hits as readonly Record<string, unknown>[]
  }
  const shown = { _source: ['service'], docvalue_fields: ['code.place', 'code.line'] }

  for (const [at, { what, shown: values }] of CASES.entries())
    it(`show ${what}`, async () => {
      const [hit] = await search({ ...shown, query: { term: { service: `s${at}` } } })
      expect(hit).to.deep.equal({
        _index: INDEX.slice(1),
        _id: String(at),
        _score: 1,
        _source: { service: `s${at}` },
        fields: { ...(values && { 'code.place': values }), 'code.line': ['7'] },
      })
    })

  it('are the same one by one, many at a time, and put in order', async () => {
    const together = await search(shown)
    expect(together).to.have.length(CASES.length)
    const ordered = await search({ ...shown, sort: ['service'] })
    expect(together).to.have.deep.members(ordered.map(({ sort: _, ...hit }) => ({ ...hit, _score: 1 })))
  })

  it('have no member "fields" where a document has none of them', async () => {
    await store.request('PUT', `${INDEX}/_doc/none`, { service: 'none' })
    const [hit] = await search({ ...shown, query: { term: { service: 'none' } } })
    expect(hit).to.deep.equal({ _index: INDEX.slice(1), _id: 'none', _score: 1, _source: { service: 'none' } })
  })

  it('come in as many pieces as they need', async () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => [
      JSON.stringify({ create: { _id: `many-${at}` } }),
      JSON.stringify({ service: 'many', 'code.place': at % 500 === 0 ? `"${at}"` : `${at}`, 'code.line': `für ${at}` }),
    ]).flat()
    await store.request('POST', `${INDEX}/_bulk`, `${lines.join('\n')}\n`, { 'content-type': 'application/x-ndjson' })
    const hits = await search({ ...shown, size: 10_000, query: { term: { service: 'many' } } })
    const places = hits.map(({ fields }) => (fields as Record<string, readonly string[]>)['code.place']![0]!)
    expect(new Set(places).size).to.equal(2_000)
    expect(places.filter(place => place.startsWith('"'))).to.have.length(4)
  })
})
