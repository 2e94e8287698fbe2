import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { scoreRecord } from '../domain/anomalies/scoring.ts'
import { LEVELS } from '../domain/records/level.ts'
import { rounds } from '../testing/rounds.ts'
import { decodeCanonical, encodeFlatRecord } from './flat-record-layout.ts'
import { findScoredFields } from './scored-fields.ts'

const word = fc.constantFrom('OOM', '\n', 'timeout', '"', '\\', 'npe', 'é', ',"level":"', '","pattern_id":"', ' ', 'TLS', '\u0000', 'x')
const text = fc.array(word, { maxLength: 8 }).map(words => words.join(''))

describe('the fields that scoring needs, without parsing the record', () => {
  it('give the same score and id as parsing it', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(...LEVELS), fc.constantFrom(0, 0.3), (message, service, level, ml_error_rate_1h) => {
        const canonical = {
          document_id: 'e8ea2a8a-3cc3-5aa2-822a-f92ae0800b77',
          index_day: '2026.11.21',
          '@timestamp': '2026-11-21T12:00:00.000Z',
          nanos: 0,
          time_unix_nano: '1',
          log_id: 'l',
          tenant_id: 'default',
          service,
          level,
          message,
          pattern_id: 'p',
          pattern: message,
          ml_error_rate_1h,
          ml_p99_latency_1h: 0,
          ml_request_rate_1h: 0,
          ml_anomaly_history_count: 0,
          enriched: true,
        }
        const { bytes, layout } = encodeFlatRecord({ canonical, attributes: new Map([['level', '"FATAL"']]) })
        const found = findScoredFields(bytes, 0, layout.canonicalEnd)!
        expect(found.document_id).to.equal(canonical.document_id)
        expect(scoreRecord(found)).to.equal(scoreRecord(decodeCanonical(bytes, layout)!))
      }),
      { seed: 13, numRuns: rounds(1_000) },
    )
  })

  it('are not found in a record that is laid out otherwise', () => {
    const value = Buffer.from('{"level":"INFO","message":"x","attributes":{}}')
    expect(findScoredFields(value, 0, 29)).to.equal(undefined)
  })
})
