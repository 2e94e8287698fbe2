import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { BOTH_ENGINES } from '../testing/both-engines.ts'
import { useTestStore } from '../testing/use-test-store.ts'

describe('dates in formats of their own', () => {
  const store = useTestStore()
  before(async () => {
    const mappings = { properties: { day: { type: 'date', format: 'yyyy/MM/dd||epoch_second' }, nanos: { type: 'date_nanos' } } }
    for (const index of BOTH_ENGINES) {
      await store.request('PUT', `/${index}`, { mappings })
      await store.request('PUT', `/${index}/_doc/1`, { day: '2026/11/20', slashed: '2026/11/20 10:00:00' })
      await store.request('PUT', `/${index}/_doc/2`, { day: 1_795_219_200 })
    }
  })

  for (const index of BOTH_ENGINES) {
    it(`are found, sorted and shown in them in ${index}`, async () => {
      const query = { range: { day: { gte: '2026/11/21' } } }
      const found = await store.request('POST', `/${index}/_search`, { query, docvalue_fields: ['day'], _source: false })
      expect(found.body.hits.hits.map((hit: { fields: object }) => hit.fields)).to.deep.equal([{ day: ['2026/11/21'] }])
      const sorted = await store.request('POST', `/${index}/_search`, { sort: [{ day: 'desc' }], search_after: ['2026/11/21'] })
      expect(sorted.body.hits.hits.map((hit: { _id: string }) => hit._id)).to.deep.equal(['1'])
      const aggs = { first: { min: { field: 'day' } }, days: { terms: { field: 'day', include: ['2026/11/20'] } } }
      const { first, days } = (await store.request('POST', `/${index}/_search`, { size: 0, aggs })).body.aggregations
      expect(first.value_as_string).to.equal('2026/11/20')
      expect(days.buckets.map((bucket: { key_as_string: string }) => bucket.key_as_string)).to.deep.equal(['2026/11/20'])
    })

    it(`are refused in others in ${index}, and so are nanoseconds of before 1970`, async () => {
      for (const document of [{ day: '2026-11-20' }, { nanos: '1969-12-31T23:59:59.999Z' }]) {
        const { status, text } = await store.request('PUT', `/${index}/_doc/3`, document)
        expect(status, text).to.equal(400)
      }
    })

    it(`are those with slashes of new fields in ${index}`, async () => {
      const { body } = await store.request('GET', `/${index}/_mapping`)
      expect(body[index].mappings.properties.slashed).to.deep.equal({
        type: 'date',
        format: 'yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis',
      })
      const query = { term: { slashed: '2026/11/20 10:00:00' } }
      expect((await store.request('POST', `/${index}/_count`, { query })).body.count).to.equal(1)
    })
  }
})
