import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { startTestStore, type TestStore } from '../../testing/test-store.ts'

const LONGS = ['9007199254740992', '9007199254740993', '9007199254740994', '9007199254740995', '9007199254740996', '-9007199254740993', '7']

// Log indices keep columns, small ones documents: both have to give all digits.
for (const index of ['small', 'service-logs-2026.11.23'])
  describe(`Numbers that a double does not hold, in ${index}`, () => {
    let store: TestStore

    beforeEach(async () => {
      store = await startTestStore()
      const mappings = { properties: { n: { type: 'long' }, u: { type: 'unsigned_long' }, at: { type: 'date_nanos' } } }
      await store.request('PUT', `/${index}`, { mappings })
      const lines = LONGS.map(
        (n, k) =>
          `{"index":{"_id":"${k}"}}\n{"n":${n},"u":1844674407370955161${k % 5},"at":"2026-11-23T04:00:00.12300000${k}Z","in":{"n":${n},"x":1.0}}\n`,
      )
      const { body } = await store.request('POST', `/${index}/_bulk`, lines.join(''))
      expect(body.errors).to.equal(false)
    })
    afterEach(() => store.stop())

    const search = (body: string) => store.request('POST', `/${index}/_search`, body)
    const ids = (answer: { body: { hits: { hits: { _id: string }[] } } }) => answer.body.hits.hits.map(({ _id }) => _id)

    for (const field of ['n', 'at'])
      for (const order of ['asc', 'desc'])
        it(`search_after pages through ${field} ${order} without losing one`, async () => {
          const seen: string[] = []
          let after = ''
          for (let page = 0; page < 4; page++) {
            const answer = await search(`{"size":2,"sort":[{"${field}":"${order}"}]${after}}`)
            seen.push(...ids(answer))
            const sort = [...answer.text.matchAll(/"sort":(\[[^\]]*\])/g)].at(-1)?.[1]
            after = `,"search_after":${sort}`
          }
          const byNumber = [5, 6, 0, 1, 2, 3, 4].map(String)
          const ascending = field === 'n' ? byNumber : LONGS.map((_n, k) => String(k))
          expect(seen).to.deep.equal(order === 'asc' ? ascending : ascending.toReversed())
        })

    it('term and range find the number itself, not its neighbours', async () => {
      expect(ids(await search('{"query":{"term":{"n":9007199254740996}}}'))).to.deep.equal(['4'])
      expect(ids(await search('{"query":{"terms":{"n":["9007199254740993",7]}}}'))).to.have.members(['1', '6'])
      expect(ids(await search('{"query":{"range":{"n":{"gt":9007199254740993,"lte":9007199254740995}}}}'))).to.have.members(['2', '3'])
      expect(ids(await search('{"query":{"range":{"n":{"lt":-9007199254740992}}}}'))).to.deep.equal(['5'])
    })

    it('a date with nanoseconds is found by them', async () => {
      expect(ids(await search('{"query":{"term":{"at":"2026-11-23T04:00:00.123000003Z"}}}'))).to.deep.equal(['3'])
      const range = '{"query":{"range":{"at":{"gt":"2026-11-23T04:00:00.123000003Z","lt":"2026-11-23T04:00:00.123000006Z"}}}}'
      expect(ids(await search(range))).to.have.members(['4', '5'])
      expect(ids(await search('{"query":{"range":{"at":{"gte":"2026-11-23T04:00:00","lte":"2026-11-23T04:00:00"}}}}'))).to.have.length(7)
      expect(ids(await search('{"query":{"range":{"at":{"gte":"now-1000d","lt":"2026-11-23T04:00:00.123Z"}}}}'))).to.have.length(0)
    })

    it('terms and cardinality keep values apart', async () => {
      const { text, body } = await search('{"size":0,"aggs":{"t":{"terms":{"field":"n"}},"c":{"cardinality":{"field":"n"}}}}')
      for (const n of LONGS) expect(text).to.contain(`{"key":${n},"doc_count":1}`)
      expect(body.aggregations.c.value).to.equal(7)
    })

    it('dates with nanoseconds are grouped by their milliseconds, as in OpenSearch', async () => {
      const at = { field: 'at' }
      const aggs = { c: { cardinality: at }, t: { terms: at }, m: { multi_terms: { terms: [at, at] } } }
      const key = Date.UTC(2026, 10, 23, 4, 0, 0, 123)
      const text = '2026-11-23T04:00:00.123Z'
      const { c, t, m } = (await search(JSON.stringify({ size: 0, aggs }))).body.aggregations
      expect(c.value).to.equal(1)
      expect(t.buckets).to.deep.equal([{ key, key_as_string: text, doc_count: 7 }])
      expect(m.buckets).to.deep.equal([{ key: [text, text], key_as_string: `${text}|${text}`, doc_count: 7 }])
    })

    it('terms and cardinality of many equal values keep neighbours apart, each time they are asked', async () => {
      const lines = Array.from({ length: 600 }, (_none, k) => `{"index":{}}\n{"n":${LONGS[k % 5]},"kind":"many"}\n`)
      expect((await store.request('POST', `/${index}/_bulk`, lines.join(''))).body.errors).to.equal(false)
      await store.request('PUT', `/${index}/_mapping`, { properties: { later: { type: 'keyword' } } })
      const above = (n: string) =>
        search(
          `{"size":0,"query":{"bool":{"filter":[{"exists":{"field":"kind"}},{"range":{"n":{"gt":${n}}}}]}},"aggs":{"t":{"terms":{"field":"n"}},"c":{"cardinality":{"field":"n"}}}}`,
        )
      for (const [from, left] of [
        [0, 4],
        [1, 3],
        [0, 4],
        [2, 2],
      ] as const) {
        const { text, body } = await above(LONGS[from]!)
        for (const n of LONGS.slice(from + 1, 5)) expect(text).to.contain(`{"key":${n},"doc_count":120}`)
        expect(body.aggregations.c.value).to.equal(left)
      }
    })

    it('_source filtering and filter_path keep digits', async () => {
      for (const query of ['_source_includes=in.*', '_source_excludes=u', 'filter_path=hits.hits._source.in'])
        expect((await store.request('GET', `/${index}/_search?q=_id:1&${query}`)).text).to.contain('"in":{"n":9007199254740993,"x":1.0}')
    })
  })
