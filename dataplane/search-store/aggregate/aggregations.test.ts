import { expect } from 'chai'
import fc from 'fast-check'
import { before, describe, it } from 'mocha'
import { documents, FIRST_MS, type Json, LOG_MAPPINGS } from '../testing/arbitrary-search.ts'
import { BOTH_ENGINES, fillBoth, searchIn } from '../testing/both-engines.ts'
import { useTestStore } from '../testing/use-test-store.ts'

const MINUTE_MS = 60_000

/** Some hundred documents, the same in every run. */
const SAMPLE: readonly Json[] = fc.sample(documents, { numRuns: 12, seed: 7 }).flat()

const count = <K>(keys: readonly K[]): Map<K, number> => {
  const counts = new Map<K, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
const minuteOf = (document: Json): number => Math.floor(Date.parse(document['timestamp'] as string) / MINUTE_MS) * MINUTE_MS
const numbers = (list: readonly Json[], field: string): number[] => list.map(each => each[field]).filter(value => typeof value === 'number')
const byCount = (counts: Map<string, number>) =>
  [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([key, docs]) => ({ key, doc_count: docs }))

describe('aggregations', () => {
  const store = useTestStore()
  before(async () => {
    await fillBoth(store, LOG_MAPPINGS, SAMPLE)
  })

  async function aggregate(index: string, aggs: object, query?: object) {
    return (await searchIn(store, index, { size: 0, aggs, ...(query && { query }) })).aggregations
  }

  for (const index of BOTH_ENGINES)
    describe(`on ${index}`, () => {
      it('terms: those of no match too, with min_doc_count 0', async () => {
        const services = [...new Set(SAMPLE.map(each => each['service'] as string))].sort()
        const [first] = services
        const terms = (field: string, more: object) => ({ terms: { field, min_doc_count: 0, ...more } })
        const times = { date_histogram: { field: 'timestamp', calendar_interval: 'year', extended_bounds: { min: '2020', max: '2020' } } }
        const query = { term: { service: first } }
        const { up, down, few, rare, codes, flags, below, gaps, some } = await aggregate(
          index,
          {
            up: terms('service', { order: { _key: 'asc' }, size: 50 }),
            down: terms('service', { order: { _key: 'desc' }, size: 2 }),
            few: terms('service', { size: 1 }),
            rare: terms('service', { order: { _count: 'asc' }, size: 2 }),
            codes: terms('http.status', {}),
            flags: terms('is_anomaly', {}),
            below: {
              ...terms('service', { order: { _key: 'asc' } }),
              aggs: { inner: terms('service', {}), most: { max: { field: 'http.status' } } },
            },
            gaps: { ...times, aggs: { inner: terms('service', {}) } },
            some: terms('service', { include: services.slice(1, 2) }),
          },
          query,
        )
        const matches = SAMPLE.filter(each => each['service'] === first).length
        const keys = (of: { buckets: Json[] }) => of.buckets.map(each => [each['key'], each['doc_count']])
        const expected = services.map(name => [name, name === first ? matches : 0])
        expect(keys(up)).to.deep.equal(expected)
        expect(up.sum_other_doc_count).to.equal(0)
        expect(keys(down)).to.deep.equal(expected.toReversed().slice(0, 2))
        expect(keys(few)).to.deep.equal([[first, matches]])
        expect(keys(rare)).to.deep.equal(expected.slice(1, 3))
        expect(keys(codes).map(([key]) => key)).to.have.members([200, 404, 500])
        expect(flags.buckets.map((each: Json) => each['key_as_string'])).to.have.members(['true', 'false'])
        expect(below.buckets[1]).to.deep.include({ doc_count: 0, most: { value: null } })
        expect(keys(below.buckets[1].inner)).to.deep.equal(services.map(name => [name, 0]))
        expect(gaps.buckets[0].inner.buckets).to.deep.equal([])
        expect(keys(gaps.buckets.at(-1).inner)[0]).to.deep.equal([first, matches])
        expect(keys(some)).to.deep.equal([[services[1], 0]])
      })

      it('terms: those of no match are shown where nothing matches at all', async () => {
        const { s, b } = await aggregate(
          index,
          { s: { terms: { field: 'service', min_doc_count: 0, size: 1 } }, b: { terms: { field: 'is_anomaly', min_doc_count: 0 } } },
          { term: { service: 'nobody' } },
        )
        expect(s.buckets).to.deep.equal([{ key: SAMPLE.map(each => each['service'] as string).sort()[0], doc_count: 0 }])
        expect(b.buckets[0]).to.deep.equal({ key: 0, key_as_string: 'false', doc_count: 0 })
      })

      it('terms: the keyword for no value is one of those without a match, though each document has a value', async () => {
        const services = [...new Set(SAMPLE.map(each => each['service'] as string))].sort()
        const terms = (more: object) => ({ terms: { field: 'service', min_doc_count: 0, order: { _key: 'asc' }, ...more } })
        const { all, known, none, wanted, codes } = await aggregate(
          index,
          {
            all: terms({ missing: '0 none' }),
            known: terms({ missing: services[0] }),
            none: terms({ missing: '0 none', exclude: ['0 none'] }),
            wanted: { terms: { field: 'service', missing: '0 none' } },
            codes: { terms: { field: 'http.status', missing: 7, min_doc_count: 0 } },
          },
          { term: { service: 'nobody' } },
        )
        const keys = (of: { buckets: Json[] }) => of.buckets.map(each => [each['key'], each['doc_count']])
        expect(keys(all)).to.deep.equal([['0 none', 0], ...services.map(name => [name, 0])])
        expect(keys(known)).to.deep.equal(services.map(name => [name, 0]))
        expect(keys(none)).to.deep.equal(services.map(name => [name, 0]))
        expect(keys(wanted)).to.deep.equal([])
        const hasOthers = SAMPLE.some(each => !('http.status' in each) && !('http' in each))
        expect(keys(codes).some(([key]) => key === 7)).to.equal(hasOthers)
      })

      it('terms: buckets by count, the rest summed', async () => {
        const { s } = await aggregate(index, { s: { terms: { field: 'service', size: 2 } } })
        const expected = byCount(count(SAMPLE.map(each => each['service'] as string)))
        expect(s.buckets).to.deep.equal(expected.slice(0, 2))
        expect(s.sum_other_doc_count).to.equal(expected.slice(2).reduce((sum, each) => sum + each.doc_count, 0))
        expect(s.doc_count_error_upper_bound).to.equal(0)
      })

      it('terms: of arrays each value once, of nothing where told', async () => {
        const { t } = await aggregate(index, { t: { terms: { field: 'tags.keyword', missing: 'none', order: { _key: 'asc' } } } })
        const values = SAMPLE.flatMap(each => {
          const tags = [...new Set((each['tags'] as string[] | undefined) ?? [])]
          return tags.length === 0 ? ['none'] : tags
        })
        expect(t.buckets).to.deep.equal(
          [...count(values)].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([key, docs]) => ({ key, doc_count: docs })),
        )
      })

      it('terms: numbers, booleans, include, exclude, min_doc_count', async () => {
        const { n, b, i, m } = await aggregate(index, {
          n: { terms: { field: 'http.status' } },
          b: { terms: { field: 'is_anomaly', order: { _key: 'desc' } } },
          i: { terms: { field: 'service', include: ['cart', 'payment'], exclude: ['payment'] } },
          m: { terms: { field: 'host', min_doc_count: 100_000 } },
        })
        expect(n.buckets.map((each: { key: number }) => each.key)).to.have.members([200, 404, 500])
        expect(b.buckets.map((each: Json) => [each['key'], each['key_as_string']])).to.deep.equal([
          [1, 'true'],
          [0, 'false'],
        ])
        expect(i.buckets.map((each: Json) => each['key'])).to.deep.equal(['cart'])
        expect(m.buckets).to.deep.equal([])
      })

      it('terms: ordered by a metric below', async () => {
        const { s } = await aggregate(index, {
          s: { terms: { field: 'service', order: { 'd.max': 'desc' } }, aggs: { d: { stats: { field: 'duration_ms' } } } },
        })
        const maxima = s.buckets.map((each: { d: { max: number } }) => each.d.max)
        expect(maxima).to.deep.equal(maxima.toSorted((a: number, b: number) => b - a))
        for (const bucket of s.buckets) {
          const own = numbers(
            SAMPLE.filter(each => each['service'] === bucket.key),
            'duration_ms',
          )
          expect(bucket.d).to.deep.equal({
            count: own.length,
            min: Math.min(...own),
            max: Math.max(...own),
            avg: own.reduce((a, b) => a + b, 0) / own.length,
            sum: own.reduce((a, b) => a + b, 0),
          })
        }
      })

      for (const [name, query] of [
        ['everything', { match_all: {} }],
        ['whole minutes', { range: { timestamp: { gte: FIRST_MS + 5 * MINUTE_MS, lt: FIRST_MS + 61 * MINUTE_MS } } }],
        ['minutes cut', { range: { timestamp: { gte: FIRST_MS + 90_001, lte: FIRST_MS + 61 * MINUTE_MS + 17 } } }],
        ['a tenant', { bool: { filter: [{ term: { tenant_id: 'acme' } }, { terms: { level: ['ERROR', 'WARN'] } }] } }],
        ['a word', { match: { message: 'timeout' } }],
      ] as const)
        it(`date_histogram and facets agree with the documents: ${name}`, async () => {
          const { h } = await aggregate(
            index,
            {
              h: {
                date_histogram: { field: 'timestamp', fixed_interval: '10m', min_doc_count: 1 },
                aggs: { l: { terms: { field: 'level' } } },
              },
            },
            query,
          )
          const found = (await store.request('POST', `/${index}/_search?size=10000`, { query })).body.hits.hits as { _source: Json }[]
          const expected = Map.groupBy(
            found.map(each => each._source),
            each => Math.floor(minuteOf(each) / (10 * MINUTE_MS)) * 10 * MINUTE_MS,
          )
          expect(h.buckets).to.deep.equal(
            [...expected]
              .sort((a, b) => a[0] - b[0])
              .map(([key, list]) => ({
                key_as_string: new Date(key).toISOString(),
                key,
                doc_count: list.length,
                l: {
                  doc_count_error_upper_bound: 0,
                  sum_other_doc_count: 0,
                  buckets: byCount(count(list.map(each => each['level'] as string))),
                },
              })),
          )
        })

      it('date_histogram: fills gaps, and out to extended_bounds', async () => {
        const { h } = await aggregate(
          index,
          {
            h: { date_histogram: { field: 'timestamp', calendar_interval: 'hour', extended_bounds: { min: '2026-11-21T07', max: 'now' } } },
          },
          { term: { service: 'cart' } },
        )
        expect(h.buckets.map((each: Json) => each['key_as_string'])).to.deep.equal(
          ['07', '08', '09', '10', '11', '12'].map(hour => `2026-11-21T${hour}:00:00.000Z`),
        )
        expect(h.buckets[0].doc_count).to.equal(0)
      })

      it('date_histogram: an interval of months, in milliseconds', async () => {
        const { h } = await aggregate(index, { h: { date_histogram: { field: 'timestamp', fixed_interval: `${90 * 86_400_000}ms` } } })
        expect(h.buckets.map(({ doc_count }: Json) => doc_count)).to.deep.equal([SAMPLE.length])
      })

      it('date_histogram: days of a time zone', async () => {
        const { h } = await aggregate(index, {
          h: { date_histogram: { field: 'timestamp', calendar_interval: 'day', time_zone: 'America/New_York' } },
        })
        expect(h.buckets).to.deep.equal([
          { key_as_string: '2026-11-21T00:00:00.000-05:00', key: Date.UTC(2026, 10, 21, 5), doc_count: SAMPLE.length },
        ])
      })

      it('date_histogram: format, keyed, order', async () => {
        const { h, k } = await aggregate(index, {
          h: { date_histogram: { field: 'timestamp', fixed_interval: '1h', format: 'HH:mm', order: { _key: 'desc' } } },
          k: { date_histogram: { field: 'timestamp', fixed_interval: '1h', format: 'epoch_millis', keyed: true } },
        })
        expect(h.buckets.map((each: Json) => each['key_as_string'])).to.deep.equal(['10:00', '09:00'])
        expect(Object.keys(k.buckets)).to.deep.equal([String(FIRST_MS), String(FIRST_MS + 60 * MINUTE_MS)])
      })

      it('range on a date: numbers are milliseconds, texts are dates, and both are shown as dates', async () => {
        const to = '2000-01-01T00:00:00.000Z'
        const { numbers, texts } = await aggregate(index, {
          numbers: { range: { field: 'timestamp', ranges: [{ to: 2 }] } },
          texts: { range: { field: 'timestamp', ranges: [{ to }] } },
        })
        const first = '1970-01-01T00:00:00.002Z'
        expect(numbers.buckets).to.deep.equal([{ key: `*-${first}`, to: 2, to_as_string: first, doc_count: 0 }])
        expect(texts.buckets).to.deep.equal([{ key: `*-${to}`, to: Date.parse(to), to_as_string: to, doc_count: 0 }])
      })

      it('sort: the order stands after a colon in the query string alone', async () => {
        const search = (query: string, body: object) => store.request('POST', `/${index}/_search${query}`, body)
        expect((await search('?sort=timestamp:desc', {})).status).to.equal(200)
        for (const sort of ['timestamp:desc', ['timestamp:desc']]) {
          const { status, text } = await search('', { sort })
          expect(status, text).to.equal(400)
          expect(text).to.contain('No mapping found for [timestamp:desc] in order to sort on')
        }
      })

      it('refuses [type] in ids', async () => {
        const { status, text } = await store.request('POST', `/${index}/_search`, { query: { ids: { type: 'x', values: ['1'] } } })
        expect(status, text).to.equal(400)
        expect(text).to.contain('[type]')
      })

      it('histogram, range, filters, filter, missing', async () => {
        const { h, r, f, one, m } = await aggregate(index, {
          h: { histogram: { field: 'duration_ms', interval: 20 } },
          r: { range: { field: 'duration_ms', ranges: [{ to: 10 }, { from: 10, to: 30 }, { key: 'slow', from: 30 }] } },
          f: {
            filters: {
              filters: { words: { match: { message: 'timeout' } }, errors: { term: { level: 'ERROR' } } },
              other_bucket_key: 'rest',
            },
          },
          one: { filter: { exists: { field: 'note' } }, aggs: { v: { value_count: { field: 'service' } } } },
          m: { missing: { field: 'host' } },
        })
        const durations = numbers(SAMPLE, 'duration_ms')
        expect(h.buckets).to.deep.equal(
          [0, 20, 40].map(key => ({ key, doc_count: durations.filter(each => each >= key && each < key + 20).length })),
        )
        expect(r.buckets.map((each: Json) => [each['key'], each['doc_count']])).to.deep.equal([
          ['*-10.0', durations.filter(each => each < 10).length],
          ['10.0-30.0', durations.filter(each => each >= 10 && each < 30).length],
          ['slow', durations.filter(each => each >= 30).length],
        ])
        const hasWord = (each: Json): boolean => ((each['message'] as string | undefined) ?? '').split(' ').includes('timeout')
        expect(f.buckets).to.deep.equal({
          words: { doc_count: SAMPLE.filter(hasWord).length },
          errors: { doc_count: SAMPLE.filter(each => each['level'] === 'ERROR').length },
          rest: { doc_count: SAMPLE.filter(each => !hasWord(each) && each['level'] !== 'ERROR').length },
        })
        const noted = SAMPLE.filter(each => each['note'] !== undefined).length
        expect(one).to.deep.equal({ doc_count: noted, v: { value: noted } })
        expect(m.doc_count).to.equal(SAMPLE.filter(each => each['host'] === undefined).length)
      })

      it('filters: no other bucket where it is said that there is none, whatever its key', async () => {
        const filters = { words: { match: { message: 'timeout' } } }
        const { f } = await aggregate(index, { f: { filters: { filters, other_bucket: false, other_bucket_key: 'rest' } } })
        expect(Object.keys(f.buckets)).to.deep.equal(['words'])
      })

      it('min, max, avg, sum, value_count, percentiles, cardinality', async () => {
        const { a, b, c, d, e, p, u, t } = await aggregate(index, {
          a: { min: { field: 'duration_ms' } },
          b: { max: { field: 'timestamp' } },
          c: { avg: { field: 'duration_ms' } },
          d: { sum: { field: 'duration_ms', missing: 1 } },
          e: { value_count: { field: 'host' } },
          p: { percentiles: { field: 'duration_ms', percents: [0, 50, 100] } },
          u: { cardinality: { field: 'service' } },
          t: { cardinality: { field: 'timestamp' } },
        })
        const durations = numbers(SAMPLE, 'duration_ms').sort((x, y) => x - y)
        const sum = durations.reduce((x, y) => x + y, 0)
        const latest = Math.max(...SAMPLE.map(each => Date.parse(each['timestamp'] as string)))
        expect(a).to.deep.equal({ value: durations[0] })
        expect(b).to.deep.equal({ value: latest, value_as_string: new Date(latest).toISOString() })
        expect(c.value).to.be.closeTo(sum / durations.length, 1e-9)
        expect(d.value).to.equal(sum + SAMPLE.length - durations.length)
        expect(e.value).to.equal(SAMPLE.filter(each => each['host'] !== undefined).length)
        expect(p.values).to.deep.equal({
          '0.0': durations[0],
          '50.0': durations[Math.floor(durations.length / 2)],
          '100.0': durations.at(-1),
        })
        expect(u.value).to.equal(4)
        expect(t.value).to.equal(new Set(SAMPLE.map(each => each['timestamp'])).size)
      })

      it('value_count of a field that the index lacks: of nothing, or of as many as stand in', async () => {
        const { a, b } = await aggregate(index, {
          a: { value_count: { field: 'lacking' } },
          b: { value_count: { field: 'lacking', missing: 'none' } },
        })
        expect([a.value, b.value]).to.deep.equal([0, SAMPLE.length])
      })

      it('refuses fields that only OpenSearch has values of', async () => {
        for (const type of ['terms', 'cardinality', 'value_count'])
          for (const field of type === 'terms' ? ['_id'] : ['_index', '_id']) {
            const { status, text } = await store.request('POST', `/${index}/_search`, { size: 0, aggs: { a: { [type]: { field } } } })
            expect([status, text.includes(`aggregation [${type}] on the field [${field}] is not supported`)], text).to.deep.equal([
              400,
              true,
            ])
          }
      })

      it('refuses fields that every document has in OpenSearch and that have no values here', async () => {
        for (const field of ['_source', '_ignored', '_field_names', '_primary_term']) {
          const { status } = await store.request('POST', `/${index}/_search`, { size: 0, aggs: { a: { terms: { field } } } })
          expect(status, field).to.equal(400)
        }
      })

      it('top_hits below a bucket', async () => {
        const { s } = await aggregate(index, {
          s: {
            terms: { field: 'service' },
            aggs: { latest: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['timestamp'] } } },
          },
        })
        for (const bucket of s.buckets) {
          const own = SAMPLE.filter(each => each['service'] === bucket.key).map(each => each['timestamp'] as string)
          expect(bucket.latest.hits.total).to.deep.equal({ value: own.length, relation: 'eq' })
          expect(bucket.latest.hits.hits[0]._source.timestamp).to.equal(own.sort().at(-1))
        }
      })

      it('of nothing', async () => {
        const { t, h, v, s, p } = await aggregate(
          index,
          {
            t: { terms: { field: 'nowhere' } },
            h: { date_histogram: { field: 'timestamp', fixed_interval: '1h' } },
            v: { max: { field: 'duration_ms' } },
            s: { sum: { field: 'nowhere' } },
            p: { percentiles: { field: 'duration_ms', percents: [99] } },
          },
          { match_none: {} },
        )
        expect(t).to.deep.equal({ doc_count_error_upper_bound: 0, sum_other_doc_count: 0, buckets: [] })
        expect(h).to.deep.equal({ buckets: [] })
        expect([v, s]).to.deep.equal([{ value: null }, { value: 0 }])
        expect(p).to.deep.equal({ values: { '99.0': null } })
      })

      const REFUSED: readonly { name: string; aggs: object; reason: string }[] = [
        { name: 'an unknown type', aggs: { a: { foo: {} } }, reason: 'Unknown aggregation type [foo]' },
        { name: 'a type that is not supported', aggs: { a: { sampler: {} } }, reason: 'aggregation type [sampler] is not supported' },
        { name: 'two types', aggs: { a: { max: { field: 'x' }, min: { field: 'x' } } }, reason: 'Found two aggregation type definitions' },
        { name: 'no field', aggs: { a: { max: {} } }, reason: 'Required one of fields [field, script]' },
        { name: 'text', aggs: { a: { terms: { field: 'message' } } }, reason: 'Text fields are not optimised' },
        {
          name: 'arithmetic on keywords',
          aggs: { a: { avg: { field: 'service' } } },
          reason: 'Field [service] of type [keyword] is not supported for aggregation [avg]',
        },
        { name: 'no interval', aggs: { a: { date_histogram: { field: 'timestamp' } } }, reason: 'Invalid interval specified' },
        {
          name: 'buckets without end',
          aggs: { a: { date_histogram: { field: 'timestamp', fixed_interval: '1ms' } } },
          reason: 'Trying to create too many buckets',
        },
        {
          name: 'metrics below a metric',
          aggs: { a: { max: { field: 'x' }, aggs: { b: { max: { field: 'x' } } } } },
          reason: 'cannot accept sub-aggregations',
        },
        {
          name: 'an order by what is not there',
          aggs: { a: { terms: { field: 'x', order: { b: 'asc' } } } },
          reason: 'Invalid aggregator order path [b]',
        },
        { name: 'an unknown parameter', aggs: { a: { terms: { field: 'x', foo: 1 } } }, reason: '[terms] does not support [foo]' },
      ]
      for (const { name, aggs, reason } of REFUSED)
        it(`refuses ${name}`, async () => {
          const answer = await store.request('POST', `/${index}/_search`, { size: 0, aggs })
          expect(answer.status, answer.text).to.equal(400)
          expect(answer.text).to.contain(reason)
        })
    })
})
