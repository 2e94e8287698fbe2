import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { SearchAnswer } from '../../api/search.ts'
import { readTrends, sayMean, trendsBody } from './trends-data.ts'

const DAY_MS = 86_400_000
const WINDOW = { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 8) }
const answerOf = (aggregations: object) =>
  ({ took: 1, hits: { total: { value: 0, relation: 'eq' }, hits: [] }, aggregations }) as SearchAnswer<unknown>
const bucket = (key: string | number, doc_count: number, more: object = {}) => ({ key, doc_count, ...more })
const severities = (counts: Readonly<Record<string, number>>) => ({
  severities: { buckets: Object.entries(counts).map(([key, count]) => bucket(key, count)) },
})

describe('trends of incidents', () => {
  it('ask for those that were created in the window, its end left out', () => {
    const { query } = trendsBody(WINDOW) as { readonly query: object }
    expect(query).to.deep.equal({ range: { createdAt: { gte: '2026-01-01T00:00:00.000Z', lt: '2026-01-08T00:00:00.000Z' } } })
  })

  it('are counted by severity over the whole window, the most severe on top, severities without any left out', () => {
    const time = {
      buckets: [bucket(WINDOW.fromMs, 3, severities({ low: 1, critical: 2 })), bucket(WINDOW.toMs - DAY_MS, 1, severities({ low: 1 }))],
    }
    const { series, starts, bucketMs } = readTrends(answerOf({ time }), answerOf({}), WINDOW)
    expect(bucketMs).to.equal(10_800_000)
    expect(starts).to.have.length(56)
    expect(series.map(({ name, values }) => [name, values.reduce((sum, value) => sum + value)])).to.deep.equal([
      ['critical', 2],
      ['low', 2],
    ])
    expect([series[1]!.values[0], series[1]!.values[48]]).to.deep.equal([1, 1])
  })

  it('are counted by service, the noisiest first: incidents, then anomalies', () => {
    const services = {
      buckets: [
        bucket('a', 2, { anomalies: { value: 6 }, ...severities({ high: 1, low: 1 }) }),
        bucket('b', 2, { anomalies: { value: 900 }, ...severities({ critical: 2 }), time: { buckets: [bucket(WINDOW.fromMs, 2)] } }),
      ],
    }
    const before = answerOf({ services: { buckets: [bucket('a', 4)] } })
    const read = readTrends(answerOf({ services }), before, WINDOW).services
    expect(read.map(({ bars: _, ...rest }) => rest)).to.deep.equal([
      { service: 'b', incidents: 2, incidentsBefore: 0, urgent: 2, anomalies: 900 },
      { service: 'a', incidents: 2, incidentsBefore: 4, urgent: 1, anomalies: 6 },
    ])
    expect(read[0]!.bars[0]).to.equal(2)
    expect(read[0]!.bars.length).to.be.within(24, 32)
  })

  it('hold nothing where the store has no incidents yet', () => {
    const { series, services } = readTrends(answerOf({}), answerOf({}), WINDOW)
    expect([series, services]).to.deep.equal([[], []])
  })

  it('say means of time in words', () => {
    const said = [null, 0, 42.4, 99.4, 100, 720, 5_960, 5_970, 12_600, 172_700, 181_440].map(sayMean)
    expect(said).to.deep.equal(['–', '0 s', '42 s', '99 s', '2 min', '12 min', '99 min', '1.7 h', '3.5 h', '48 h', '2.1 d'])
  })
})
