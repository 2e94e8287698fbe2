import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { documents, LOG_MAPPINGS, queries } from '../../testing/arbitrary-search.ts'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

/** A table and a log index. */
const INDICES = ['small', 'service-logs-2026.11.21']
const DOCUMENTS = [
  { n: 1, level: 'ERROR', service: 'cart' },
  { n: 2, level: 'INFO', service: 'cart' },
  { n: 3, level: 'ERROR', service: 'shop' },
  { n: 4, level: 'WARN', service: 'shop' },
]
const levels = { aggs: { levels: { terms: { field: 'level', order: { _key: 'asc' } } } } }

describe('post_filter', () => {
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    for (const index of INDICES) await store.request('PUT', `/${index}`, { mappings: LOG_MAPPINGS })
    await fill(INDICES, DOCUMENTS)
  })
  after(() => store.stop())

  async function fill(indices: readonly string[], all: readonly object[]): Promise<void> {
    const lines = indices.flatMap(_index =>
      all.flatMap((document, at) => [
        { create: { _index, _id: `doc-${at + 1}` } },
        { timestamp: '2026-11-21T10:00:00.000Z', number: at, ...document },
      ]),
    )
    await store.request('POST', '/_bulk', `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)
  }

  const search = async (index: string, body: object, query = '') => (await store.request('POST', `/${index}/_search${query}`, body)).body
  const idsOf = (body: { hits: { hits: readonly { _id: string }[] } }) => body.hits.hits.map(({ _id }) => _id)

  for (const index of INDICES)
    describe(index, () => {
      it('narrows hits and their total, and leaves the aggregations all that the query finds', async () => {
        const body = await search(index, { query: { range: { n: { gt: 1 } } }, post_filter: { term: { level: 'ERROR' } }, ...levels })
        expect(idsOf(body)).to.deep.equal(['doc-3'])
        expect(body.hits.total).to.deep.equal({ value: 1, relation: 'eq' })
        expect(body.aggregations.levels.buckets).to.deep.equal(['ERROR', 'INFO', 'WARN'].map(key => ({ key, doc_count: 1 })))
      })

      it('counts without hits and without aggregations', async () => {
        const filter = { post_filter: { term: { level: 'ERROR' } } }
        expect((await search(index, { ...filter, size: 0, ...levels })).hits.total.value).to.equal(2)
        expect((await search(index, { ...filter, size: 0 })).hits.total.value).to.equal(2)
        expect(await search(index, { ...filter, size: 0, track_total_hits: false })).not.to.have.nested.property('hits.total')
      })

      it('has no part in the score', async () => {
        const body = await search(index, {
          query: { constant_score: { filter: { match_all: {} }, boost: 3 } },
          post_filter: { term: { level: { value: 'WARN', boost: 7 } } },
        })
        expect(body.hits.max_score).to.equal(3)
        expect(body.hits.hits[0]._score).to.equal(3)
      })

      it('goes with a sort, a window and a place to go on from', async () => {
        const asked = { post_filter: { term: { service: 'shop' } }, sort: [{ n: 'desc' }], ...levels }
        expect(idsOf(await search(index, { ...asked, from: 1 }))).to.deep.equal(['doc-3'])
        const body = await search(index, { ...asked, search_after: [4] })
        expect(idsOf(body)).to.deep.equal(['doc-3'])
        expect(body.aggregations.levels.buckets).to.have.length(3)
      })

      it('holds for each page of a scroll', async () => {
        const first = await search(index, { size: 1, post_filter: { term: { level: 'ERROR' } }, ...levels }, '?scroll=1m')
        expect(first.hits.total.value).to.equal(2)
        expect(first.aggregations.levels.buckets).to.have.length(3)
        const { body } = await store.request('POST', '/_search/scroll', { scroll: '1m', scroll_id: first._scroll_id })
        expect([...idsOf(first), ...idsOf(body)]).to.deep.equal(['doc-1', 'doc-3'])
      })

      it('is named by the hits that match it', async () => {
        const { hits } = await search(index, { post_filter: { term: { level: { value: 'WARN', _name: 'warned' } } } })
        expect(hits.hits[0].matched_queries).to.deep.equal(['warned'])
      })

      it('comes before terminate_after', async () => {
        const body = await search(index, { post_filter: { term: { level: 'ERROR' } }, terminate_after: 1 })
        expect(body.terminated_early).to.equal(true)
        expect(idsOf(body)).to.deep.equal(['doc-1'])
      })

      it('that is malformed is refused, and so is one that would end the aggregations early', async () => {
        for (const body of [{ post_filter: { foo: {} } }, { post_filter: [] }, { post_filter: {} }])
          expect((await store.request('POST', `/${index}/_search`, body)).status).to.equal(400)
        const { status, body } = await store.request('POST', `/${index}/_search`, {
          ...{ post_filter: { match_all: {} }, terminate_after: 1, ...levels },
        })
        expect(status).to.equal(400)
        expect(body.error.reason).to.match(/terminate_after.*post_filter/)
      })
    })

  it('finds what the query with a filter finds, and aggregates what the query alone does', async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(documents, queries, queries, async (all, query, filter) => {
        const index = `${count % 2 === 0 ? 'service-logs-' : 'small-'}${count++}`
        await store.request('PUT', `/${index}`, { mappings: LOG_MAPPINGS })
        await fill([index], all)
        const asked = {
          size: 100,
          sort: ['number'],
          track_scores: true,
          aggs: { levels: { terms: { field: 'level' }, aggs: { n: { sum: { field: 'number' } } } } },
        }
        const whole = await search(index, { ...asked, query, post_filter: filter })
        const { hits } = await search(index, { ...asked, query: { bool: { must: [query], filter: [filter] } } })
        const { aggregations } = await search(index, { ...asked, query })
        expect(whole.hits).to.deep.equal(hits)
        expect(whole.aggregations).to.deep.equal(aggregations)
        await store.request('DELETE', `/${index}`)
      }),
      { numRuns: rounds(60) },
    )
  })
})
