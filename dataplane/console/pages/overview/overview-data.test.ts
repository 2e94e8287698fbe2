import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { SearchAnswer } from '../../api/search.ts'
import { findNewest, newPatternsBody, readCounts, readNewPatterns, uncountedServices, withServices } from './overview-data.ts'

const levels = (counts: Readonly<Record<string, number>>) => ({
  buckets: Object.entries(counts).map(([key, doc_count]) => ({ key, doc_count })),
})
const answer = (total: number, aggregations: Readonly<Record<string, unknown>>): SearchAnswer => ({
  took: 1,
  hits: { total: { value: total, relation: 'eq' }, hits: [] },
  aggregations,
})
const service = (key: string, counts: Readonly<Record<string, number>>) => ({
  key,
  doc_count: Object.values(counts).reduce((sum, count) => sum + count, 0),
  levels: levels(counts),
})

describe('the overview', () => {
  const window = { fromMs: 0, toMs: 60_000 }
  const now = answer(110, {
    levels: levels({ INFO: 100, WARN: 5, ERROR: 4, FATAL: 1 }),
    services: { buckets: [service('cart', { INFO: 95, WARN: 5 }), service('checkout', { INFO: 5, ERROR: 4, FATAL: 1 })] },
    time: { buckets: [{ key: 1_000, doc_count: 110, levels: levels({ INFO: 100, ERROR: 10 }) }] },
  })
  const before = answer(60, {
    levels: levels({ INFO: 50, ERROR: 10 }),
    services: { buckets: [service('cart', { INFO: 50 }), service('mail', { ERROR: 10 })] },
  })

  it('names the newest record that is not of a wrong clock, and such a one where there are no others', async () => {
    const nowMs = Date.UTC(2026, 10, 22, 12)
    const store =
      (times: readonly string[]) =>
      async (body: { readonly query?: { readonly range: { readonly timestamp: { readonly lte: string } } } }) => {
        const [newest] = times
          .filter(time => time <= (body.query?.range.timestamp.lte ?? '9'))
          .toSorted()
          .reverse()
        return { hits: { hits: newest === undefined ? [] : [{ _source: { timestamp: newest } }] } }
      }
    const find = (...times: readonly string[]) => findNewest(store(times) as unknown as Parameters<typeof findNewest>[0], nowMs)
    expect(await find('2026-11-22T11:00:00.000Z', '2026-11-22T12:00:30.000Z', '2027-12-31T00:00:00.000Z')).to.equal(
      '2026-11-22T12:00:30.000Z',
    )
    expect(await find('2027-12-31T00:00:00.000Z')).to.equal('2027-12-31T00:00:00.000Z')
    expect(await find()).to.equal(undefined)
  })

  it('has the services of now, and those that fell silent', () => {
    const { services, ...totals } = readCounts(now, before, window)
    expect(services.map(({ service, errorShare, records, recordsBefore }) => [service, errorShare, records, recordsBefore])).to.deep.equal([
      ['cart', 0, 100, 50],
      ['checkout', 0.5, 10, 0],
      ['mail', 0, 0, 10],
    ])
    expect(totals).to.include({ records: 110, errors: 5, recordsBefore: 60, errorsBefore: 10 })
  })

  it('counts services that fail often and log little, among thousands that log more', () => {
    const failing = { services: { buckets: [{ key: 'checkout', doc_count: 5 }, { key: 'tiny', doc_count: 3 }] } } // biome-ignore format: one line
    const cut = { ...now, aggregations: { ...now.aggregations, failing } }
    expect(uncountedServices(cut)).to.deep.equal(['tiny'])
    const more = answer(3, { services: { buckets: [service('tiny', { ERROR: 3 }), service('cart', { INFO: 1 })] } })
    const { services } = readCounts(withServices(cut, more), before, window)
    expect(services.map(({ service, errors }) => [service, errors])).to.deep.equal([
      ['cart', 0],
      ['checkout', 5],
      ['tiny', 3],
      ['mail', 0],
    ])
    expect(uncountedServices(now)).to.deep.equal([])
  })

  it('calls no service silent or new that was only not counted', () => {
    const cut = (buckets: readonly object[], counts: Readonly<Record<string, number>>) =>
      answer(900, { levels: levels(counts), services: { sum_other_doc_count: 5, buckets } })
    const current = cut([service('cart', { INFO: 95 }), service('search', { INFO: 9 })], { INFO: 800, ERROR: 100 })
    const earlier = cut([service('cart', { INFO: 50 }), service('mail', { ERROR: 10 })], { INFO: 850, ERROR: 50 })
    const { services, errors, errorsBefore, hasMoreServices } = readCounts(current, earlier, window)
    expect(services.map(({ service, recordsBefore }) => [service, recordsBefore])).to.deep.equal([
      ['cart', 50],
      ['search', undefined],
    ])
    expect([errors, errorsBefore, hasMoreServices]).to.deep.equal([100, 50, true])
  })

  it('draws the levels that there are, at every second of the minute', () => {
    const { chart } = readCounts(now, before, window)
    expect(chart.starts).to.have.length(60)
    expect(chart.series.map(({ name, values }) => [name, values[1], values.length])).to.deep.equal([
      ['ERROR', 10, 60],
      ['INFO', 100, 60],
    ])
  })

  it('shows new patterns by a record of each', () => {
    expect(newPatternsBody(['a'], window)).to.have.nested.property('aggs.patterns.aggs.latest.top_hits.size', 1)
    const _source = { pattern: 'took <num> ms', service: 'cart', level: 'WARN' }
    const bucket = { key: 'a', doc_count: 3, first: { value: 5_000 }, latest: { hits: { hits: [{ _source }] } } }
    const worse = { ...bucket, key: 'b', doc_count: 1, latest: { hits: { hits: [{ _source: { ..._source, level: 'FATAL' } }] } } }
    const patterns = readNewPatterns(answer(0, { patterns: { buckets: [bucket, worse] } }))
    expect(patterns.map(({ id }) => id)).to.deep.equal(['b', 'a'])
    expect(patterns.slice(1)).to.deep.equal([
      { id: 'a', pattern: 'took <num> ms', service: 'cart', level: 'WARN', count: 3, firstSeen: '1970-01-01T00:00:05.000Z' },
    ])
  })
})
