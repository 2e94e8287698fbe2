import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { buildAnomaly } from '../domain/anomalies/anomaly.ts'
import { rounds } from '../testing/rounds.ts'
import { findAnomalyFields } from './anomaly-fields.ts'
import { decodeCanonical } from './flat-record-layout.ts'
import type { FlatRow } from './flat-row.ts'
import { createEtl } from './steps/flatten/etl.ts'
import { EtlOutput } from './steps/flatten/etl-output.ts'

const NOW_MS = Date.UTC(2026, 10, 27, 12)
const FEATURES = { ml_error_rate_1h: 0.3, ml_p99_latency_1h: 2_500, ml_request_rate_1h: 9, ml_anomaly_history_count: 1 }
/** Made once: it has megabytes of buffers. */
const etl = createEtl({
  defaultTenant: 'default',
  retentionDays: 30,
  lookupFeatures: (_tenant, service) => (service === 'known' ? FEATURES : undefined),
})

interface Said {
  readonly service: string
  readonly host: string
  readonly severityText: string
  readonly traceId: string
  readonly spanId: string
  readonly text: string
}

function rowOf({ service, host, text, ...record }: Said): FlatRow {
  const attributes = [
    { key: 'service.name', value: { stringValue: service } },
    { key: 'host.name', value: { stringValue: host } },
  ]
  const logRecord = { timeUnixNano: `${NOW_MS}000000`, ...record, body: { stringValue: text } }
  const payload = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [logRecord] }] }] }
  const output = new EtlOutput()
  const parts = etl.processInParts({ value: Buffer.from(JSON.stringify(payload)), receivedAtMs: NOW_MS, key: 'default/any' }, output)
  while (parts.next().done !== true);
  return output.rows[0]!
}

const SAID: Said = {
  service: 'checkout',
  host: 'a',
  severityText: 'ERROR',
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  text: 'Read timed out after 30 ms',
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(',', ':', ',level:', 'message', '"message":"', ',"trace_id":"', 'größe 六 😀', '\u007f\u2028', 'x'.repeat(9_000), 'a\\b'),
)

const said: fc.Arbitrary<Said> = fc.record({
  service: fc.oneof(text, fc.constant('known')),
  host: text,
  severityText: fc.constantFrom('ERROR', 'WARN', 'INFO', 'FATAL', ''),
  traceId: fc.constantFrom('', SAID.traceId, SAID.traceId.toUpperCase(), 'no id'),
  spanId: fc.constantFrom('', SAID.spanId),
  text,
})

describe('the fields of an anomaly, found by their place', () => {
  it('property: make the same anomaly as the parsed record does', () => {
    fc.assert(
      fc.property(said, each => {
        const row = rowOf(each)
        const found = findAnomalyFields(row)
        if (found === undefined) return
        const scores = { score: 0.5, zscore: 0 }
        expect(JSON.stringify(buildAnomaly(found, scores))).to.equal(
          JSON.stringify(buildAnomaly(decodeCanonical(row.value, row.layout)!, scores)),
        )
      }),
      { seed: 3, numRuns: rounds(500) },
    )
  })

  it('are found in text without escapes, in any script, with ids or without', () => {
    for (const each of [SAID, { ...SAID, traceId: '', spanId: '' }, { ...SAID, host: 'a,' }])
      expect(findAnomalyFields(rowOf(each))).to.include({ service: 'checkout', level: 'ERROR', message: SAID.text })
    expect(findAnomalyFields(rowOf({ ...SAID, text: 'größe 六 😀' }))).to.include({ message: 'größe 六 😀', trace_id: SAID.traceId })
  })

  it('are left to the parser where there are escapes', () => {
    for (const part of [{ text: 'said "no"' }, { host: 'a\\b' }, { service: 'a\tb' }])
      expect(findAnomalyFields(rowOf({ ...SAID, ...part }))).to.equal(undefined)
  })
})
