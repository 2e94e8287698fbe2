import { expect } from 'chai'
import { describe, it } from 'mocha'
import { computeFeatures, LATENCY_PERCENTS, type ServiceHour } from './service-features.ts'

const NOTHING: ServiceHour = { records: 0, errors: 0, latencies: [], anomalies: 0 }

/** As a search store reports these values. */
function group(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (percent: number) => sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))]!
  return { count: values.length, atPercents: LATENCY_PERCENTS.map(at) }
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const p99 = (...groups: readonly ReturnType<typeof group>[]) => computeFeatures({ ...NOTHING, latencies: groups }).ml_p99_latency_1h

describe('the features of a service', () => {
  it('ml_error_rate_1h is (ERROR + FATAL) / all, ml_request_rate_1h records per second, ml_anomaly_history_count the anomalies', () => {
    expect(computeFeatures({ records: 7_200, errors: 1_800, latencies: [], anomalies: 4 })).to.deep.equal({
      ml_error_rate_1h: 0.25,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 2,
      ml_anomaly_history_count: 4,
    })
  })

  it('a service without records has zeros', () => {
    const zeros = { ml_error_rate_1h: 0, ml_p99_latency_1h: 0, ml_request_rate_1h: 0, ml_anomaly_history_count: 0 }
    expect(computeFeatures(NOTHING)).to.deep.equal(zeros)
  })

  it('ml_p99_latency_1h of one field is its 99th percentile as the search store has it', () => {
    expect(p99(group(range(1, 100)))).to.equal(100)
    expect(p99(group(range(1, 1_000)))).to.equal(991)
    expect(p99(group([12.5]))).to.equal(12.5)
  })

  it('of several fields it is that of all their records', () => {
    expect(p99(group(Array(100).fill(10)), group(Array(100).fill(5_000)))).to.equal(5_000)
    expect(p99(group(Array(1_000).fill(10)), group(Array(5).fill(5_000)))).to.equal(10)
    expect(p99(group(Array(900).fill(10)), group(range(1, 100)))).to.be.within(85, 95)
  })
})
