import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

const COUNT = 6
/** A table and a log index. */
const INDICES = ['small', 'service-logs-2026.11.21']

describe('terminate_after', () => {
  let store: TestStore

  before(async () => {
    store = await startTestStore()
    const lines = INDICES.flatMap(_index =>
      Array.from({ length: COUNT }, (_, at) => [
        { create: { _index, _id: `d${at}` } },
        { n: at + 1, timestamp: '2026-11-21T10:00:00.000Z' },
      ]),
    )
    await store.request(
      'POST',
      '/_bulk',
      `${lines
        .flat()
        .map(line => JSON.stringify(line))
        .join('\n')}\n`,
    )
  })
  after(() => store.stop())

  const search = async (index: string, body: object, query = '') => (await store.request('POST', `/${index}/_search${query}`, body)).body

  for (const index of INDICES)
    describe(index, () => {
      it('ends the search of an index with so many matches, the oldest in the index', async () => {
        const body = await search(index, { terminate_after: 3, sort: [{ n: 'desc' }] })
        expect(body.terminated_early).to.equal(true)
        expect(body.hits.total).to.deep.equal({ value: 3, relation: 'eq' })
        expect(body.hits.hits.map((hit: { _id: string }) => hit._id)).to.deep.equal(['d2', 'd1', 'd0'])
      })

      it('counts matches, not documents', async () => {
        const body = await search(index, { terminate_after: 2, query: { range: { n: { gt: 3 } } }, aggs: { sum: { sum: { field: 'n' } } } })
        expect(body.aggregations.sum.value).to.equal(9)
      })

      it('leaves nothing out where there are no more matches, and says so', async () => {
        const body = await search(index, { terminate_after: COUNT, aggs: { all: { terms: { field: 'n' } } } })
        expect(body.terminated_early).to.equal(false)
        expect(body.aggregations.all.buckets).to.have.length(COUNT)
      })

      it('leaves later searches all they find', async () => {
        const asked = { size: 0, query: { range: { n: { gt: 1 } } }, aggs: { all: { terms: { field: 'n' } } } }
        expect((await search(index, { ...asked, terminate_after: 1 })).aggregations.all.buckets).to.have.length(1)
        const body = await search(index, asked)
        expect(body.aggregations.all.buckets).to.have.length(COUNT - 1)
        expect(body).not.to.have.property('terminated_early')
      })

      it('ends a count', async () => {
        const { body } = await store.request('GET', `/${index}/_count?terminate_after=4`)
        expect(body).to.include({ count: 4, terminated_early: true })
        expect((await store.request('GET', `/${index}/_count?terminate_after=${COUNT}`)).body).to.include({
          count: COUNT,
          terminated_early: false,
        })
      })
    })

  it('counts for each index', async () => {
    const body = await search(INDICES.join(','), { terminate_after: 2, size: 0 })
    expect(body.hits.total.value).to.equal(4)
  })

  it('is taken as a parameter, and 0 is no end', async () => {
    expect((await search('small', {}, '?terminate_after=1')).hits.hits).to.have.length(1)
    const body = await search('small', { terminate_after: 0 })
    expect(body.hits.hits).to.have.length(COUNT)
    expect(body).not.to.have.property('terminated_early')
  })

  it('keeps terms without a match', async () => {
    const body = await search('small', { size: 0, terminate_after: 1, aggs: { all: { terms: { field: 'n', min_doc_count: 0 } } } })
    expect(body.aggregations.all.buckets.map((bucket: { doc_count: number }) => bucket.doc_count)).to.deep.equal([1, 0, 0, 0, 0, 0])
  })

  it('is refused below 0, and of a scroll', async () => {
    expect((await search('small', { terminate_after: -1 })).error.reason).to.equal('terminateAfter must be > 0')
    expect((await search('small', { terminate_after: 1 }, '?scroll=1m')).error.reason).to.include('[terminate_after] of a scroll')
  })
})
