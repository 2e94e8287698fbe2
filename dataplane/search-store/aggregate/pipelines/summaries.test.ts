import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { useTestStore } from '../../testing/use-test-store.ts'

describe('aggregations over the buckets of another', () => {
  const store = useTestStore()
  before(async () => {
    const rows = [
      { s: 'a', n: 1, w: 1 },
      { s: 'a', n: 51, w: 3 },
      { s: 'b', n: 101, w: 1 },
      { s: 'c', n: 151, w: 1 },
    ]
    await store.request('PUT', '/t', { mappings: { properties: { s: { type: 'keyword' } } } })
    for (const [at, row] of rows.entries()) await store.request('PUT', `/t/_doc/${at}`, row)
  })

  const aggregate = async (aggs: object, parameters = '') => {
    const answer = await store.request('POST', `/t/_search?size=0${parameters}`, { aggs })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body.aggregations
  }
  const sums = { terms: { field: 's' }, aggs: { sum: { sum: { field: 'n' } } } }
  const over = (type: string, path = 'by>sum') => ({ [type]: { buckets_path: path } })

  it('sum them up', async () => {
    const all = await aggregate({
      ...{ by: sums, max: over('max_bucket'), min: over('min_bucket'), avg: over('avg_bucket', 'by>_count') },
      ...{ total: over('sum_bucket'), stats: over('stats_bucket'), percentiles: over('percentiles_bucket') },
    })
    expect(all.max).to.deep.equal({ value: 151, keys: ['c'] })
    expect(all.min).to.deep.equal({ value: 52, keys: ['a'] })
    expect(all.avg.value).to.equal(4 / 3)
    expect(all.total.value).to.equal(304)
    expect(all.stats).to.deep.equal({ count: 3, min: 52, max: 151, avg: 304 / 3, sum: 304 })
    expect(all.percentiles.values['50.0']).to.equal(101)
  })

  it('have a name that says their kind, and metadata as it came', async () => {
    const all = await aggregate({ by: { ...sums, meta: { of: 'us' } }, max: over('max_bucket'), total: over('sum_bucket') }, '&typed_keys')
    expect(Object.keys(all)).to.deep.equal(['sterms#by', 'bucket_metric_value#max', 'simple_value#total'])
    expect(all['sterms#by'].meta).to.deep.equal({ of: 'us' })
  })

  it('sort buckets, and leave some out', async () => {
    const sort = { bucket_sort: { sort: [{ sum: { order: 'desc' } }], size: 2 } }
    const { by } = await aggregate({ by: { ...sums, aggs: { ...sums.aggs, sort } } })
    expect(by.buckets.map((bucket: { key: string }) => bucket.key)).to.deep.equal(['c', 'b'])
  })

  it('are refused where there are no buckets, or more than one value', async () => {
    const cases = [
      { aggs: { by: sums, max: over('max_bucket', 'nothing>sum') }, reason: 'No aggregation found for path' },
      { aggs: { one: { sum: { field: 'n' } }, max: over('max_bucket', 'one') }, reason: 'must include a multi-bucket aggregation' },
      {
        aggs: { by: { ...sums, aggs: { p: { percentiles: { field: 'n' } } } }, max: over('max_bucket', 'by>p') },
        reason: 'multiple values',
      },
      { aggs: { by: sums, sort: { bucket_sort: {} } }, reason: 'must be declared inside of another aggregation' },
    ]
    for (const { aggs, reason } of cases) {
      const { status, text } = await store.request('POST', '/t/_search', { size: 0, aggs })
      expect([status, text.toLowerCase().includes(reason.toLowerCase())], text).to.deep.equal([400, true])
    }
  })

  it('weigh, tell rare terms and several of them, and know how far values are from their median', async () => {
    const all = await aggregate({
      weighted: { weighted_avg: { value: { field: 'n' }, weight: { field: 'w' } } },
      rare: { rare_terms: { field: 's' } },
      both: { multi_terms: { terms: [{ field: 's' }, { field: 'w' }], size: 1, order: { _key: 'desc' } } },
      spread: { median_absolute_deviation: { field: 'n' } },
      hdr: { percentiles: { field: 'n', hdr: {}, percents: [50] } },
      some: { terms: { field: 's', include: '[ab]', exclude: ['b'] } },
    })
    expect(all.weighted.value).to.equal((1 + 153 + 101 + 151) / 6)
    expect(all.rare.buckets.map((bucket: { key: string }) => bucket.key)).to.deep.equal(['b', 'c'])
    expect(all.both.buckets).to.deep.equal([{ key: ['c', 1], key_as_string: 'c|1', doc_count: 1 }])
    expect(all.spread.value).to.equal(50)
    expect(all.hdr.values['50.0']).to.equal(51.0302734375)
    expect(all.some.buckets).to.deep.equal([{ key: 'a', doc_count: 2 }])
  })
})
