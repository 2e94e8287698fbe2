import { expect } from 'chai'
import { describe, it } from 'mocha'
import { decodeAnomalyEvent } from '../anomaly-event.ts'
import type { StepInput } from '../outcome.ts'
import { createDetector } from './detect.ts'
import { createEtl } from './flatten/etl.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const CONFIG = { anomalyThreshold: 2.5, windowSize: 50 }
/** Made once: it has megabytes of buffers. */
const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })

/** Flat records of messages, a millisecond apart. */
function inputs(messages: readonly (readonly [level: string, text: string])[], startMs = NOW_MS): StepInput[] {
  const logRecords = messages.map(([severityText, stringValue], i) => ({
    timeUnixNano: `${startMs + i}000000`,
    severityText,
    body: { stringValue },
  }))
  const payload = {
    resourceLogs: [
      { resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] }, scopeLogs: [{ logRecords }] },
    ],
  }
  return etl.process(Buffer.from(JSON.stringify(payload)), NOW_MS).records.map(({ key, value, headers = {} }) => ({ key, value, headers }))
}

const quiet = (count: number, startMs = NOW_MS - 1_000) =>
  inputs(
    Array.from({ length: count }, () => ['INFO', 'fine'] as const),
    startMs,
  )

describe('scoring: records at or above the emit threshold are published to anomaly-events', () => {
  it('score >= 0.5 is emitted as an anomaly', () => {
    const outcome = createDetector(CONFIG).process(inputs([['ERROR', 'Read timed out']])[0]!)
    expect(outcome.kind === 'emit' && outcome.value.anomaly).to.include({ score: 0.5, anomaly_score: 0, service: 'checkout' })
    expect(outcome.kind === 'emit' && outcome.value.event.key).to.equal('default/checkout')
  })

  it('score < 0.5 is dropped', () => {
    expect(createDetector(CONFIG).process(inputs([['ERROR', 'odd']])[0]!)).to.deep.equal({ kind: 'drop', reason: 'no anomaly' })
  })

  it('DEBUG and TRACE are skipped, and excluded from the window', () => {
    const detector = createDetector(CONFIG)
    for (const input of inputs(Array.from({ length: 20 }, () => ['DEBUG', 'x'] as const)))
      expect(detector.process(input).kind).to.equal('drop')
    expect(detector.process(inputs([['ERROR', 'odd']], NOW_MS + 50)[0]!).kind).to.equal('drop')
  })

  it('the Z-score engine sees what the rules do not', () => {
    const detector = createDetector(CONFIG)
    for (const input of quiet(10)) detector.process(input)
    const outcome = detector.process(inputs([['ERROR', 'odd']])[0]!)
    expect(outcome.kind === 'emit' && outcome.value.anomaly).to.deep.include({ score: 0.3, anomaly_score: 3, detectors: ['zscore'] })
  })

  it('each document id is taken once', () => {
    const detector = createDetector(CONFIG)
    const [input] = inputs([['FATAL', 'x']])
    expect([detector.process(input!).kind, detector.process(input!).kind]).to.deep.equal(['emit', 'drop'])
  })

  it('warming fills windows and seen ids, and emits nothing', () => {
    const detector = createDetector(CONFIG)
    const [fatal] = inputs([['FATAL', 'x']])
    for (const input of quiet(10)) detector.warm(input)
    detector.warm(fatal!)
    expect(detector.process(fatal!).kind).to.equal('drop')
    expect(detector.process(inputs([['FATAL', 'y']], NOW_MS + 5)[0]!))
      .to.have.nested.property('value.anomaly.anomaly_score')
      .above(2.5)
  })

  it('a changed threshold takes effect at once', () => {
    const detector = createDetector(CONFIG)
    for (const input of quiet(10)) detector.process(input)
    detector.configure({ anomalyThreshold: 50 })
    expect(detector.process(inputs([['ERROR', 'odd']])[0]!).kind).to.equal('drop')
  })

  it('finds the same with and without the layout header', () => {
    const all = inputs([
      ['ERROR', 'timeout'],
      ['INFO', 'fine'],
      ['FATAL', 'é'],
    ])
    const found = (strip: boolean) => {
      const detector = createDetector(CONFIG)
      return all
        .map(input => detector.process(strip ? { ...input, headers: {} } : input))
        .map(outcome => (outcome.kind === 'emit' ? outcome.value.anomaly : outcome.kind))
    }
    expect(found(true)).to.deep.equal(found(false))
  })

  it('what cannot be read goes to the dead-letter queue', () => {
    expect(createDetector(CONFIG).process({ key: 'a/b', value: Buffer.from('{"x":'), headers: {} }).kind).to.equal('deadLetter')
  })
})

describe('records of other writers', () => {
  const SPECIFIED = { level: 'INFO', message: 'fine', service: 'cart', tenant_id: 'acme', trace_id: null, span_id: null }
  const record = (n: number, more: object = {}, key = '') => {
    const fields = { ...SPECIFIED, '@timestamp': new Date(NOW_MS + n).toISOString(), log_id: `log ${n}`, ...more }
    return { key, value: Buffer.from(JSON.stringify(fields)), headers: {} }
  }

  it('with null for what they lack are scored', () => {
    const outcome = createDetector(CONFIG).process(record(0, { level: 'FATAL' }))
    expect(outcome.kind === 'emit' && outcome.value.anomaly).to.include({ service: 'cart', tenant_id: 'acme', score: 0.5 })
  })

  it('go by their own tenant and service, whatever their keys are', () => {
    const detector = createDetector(CONFIG)
    for (let n = 0; n < 10; n++) detector.process(record(n, {}, `key ${n % 2}`))
    for (let n = 10; n < 20; n++) detector.process(record(n, { service: 'payment', level: 'ERROR' }))
    const [cart, payment] = [
      detector.process(record(21, { level: 'ERROR' })),
      detector.process(record(22, { service: 'payment', level: 'ERROR' })),
    ]
    expect(cart.kind === 'emit' && cart.value.anomaly).to.include({ anomaly_score: 3 })
    expect(payment.kind).to.equal('drop')
  })

  for (const [title, more] of [
    ['a trace that is no text', { trace_id: 5 }],
    ['a pattern that is no text, and a tenant that is none', { pattern: {}, pattern_id: 5, tenant_id: '../x' }],
    ['a feature that is no number', { ml_error_rate_1h: [] }],
    ['a time that is none', { '@timestamp': 'x' }],
    ['a level that is no text', { level: {} }],
  ] as const)
    it(`with ${title} go to the dead-letter queue, also with all fields of our own`, () => {
      const [ours] = inputs([['INFO', 'fine']])
      const whole = { ...JSON.parse(Buffer.from(ours!.value).toString()), ...more }
      for (const input of [record(0, more), { ...ours!, value: Buffer.from(JSON.stringify(whole)), headers: {} }])
        expect(createDetector(CONFIG).process(input).kind).to.equal('deadLetter')
    })
})

describe('anomaly events', () => {
  it('hold the anomaly and the flat record it was found in, to be read with or without headers', () => {
    const [input] = inputs([['ERROR', 'Read timed out: größe']])
    const outcome = createDetector(CONFIG).process(input!)
    if (outcome.kind !== 'emit') throw new Error('not emitted')
    const { event, anomaly } = outcome.value
    const quick = decodeAnomalyEvent({ key: event.key, value: event.value, headers: event.headers ?? {} })
    const slow = decodeAnomalyEvent({ key: event.key, value: event.value, headers: {} })
    expect(quick?.anomaly).to.deep.equal(anomaly)
    expect(slow?.anomaly).to.deep.equal(anomaly)
    expect(Buffer.from(quick!.record.value).toString()).to.equal(Buffer.from(input!.value).toString())
    expect(Buffer.from(slow!.record.value).toString()).to.equal(Buffer.from(input!.value).toString())
  })

  it('with a field that is not what it has to be is none', () => {
    const [input] = inputs([['FATAL', 'x']])
    const outcome = createDetector(CONFIG).process(input!)
    if (outcome.kind !== 'emit') throw new Error('not emitted')
    const { key, value } = outcome.value.event
    const isRead = (more: object) => {
      const event = { ...JSON.parse(Buffer.from(value).toString()), ...more }
      return decodeAnomalyEvent({ key, value: Buffer.from(JSON.stringify(event)), headers: {} }) !== undefined
    }
    expect(isRead({})).to.equal(true)
    for (const more of [
      ...[{ id: '' }, { id: 'x'.repeat(600) }, { document_id: 5 }, { timestamp: 'x' }, { tenant_id: '../x' }, { level: 'XX' }],
      ...[
        { pattern_id: null },
        { pattern: {} },
        { detectors: 'rule' },
        { reasons: [5] },
        { score: 'x' },
        { anomaly_score: null },
        { trace_id: {} },
      ],
    ])
      expect(isRead(more), JSON.stringify(more)).to.equal(false)
  })

  it('what is none is none', () => {
    for (const text of ['', '{}', '{"id":"x"}', '[]', '{"record":{}}'])
      expect(decodeAnomalyEvent({ key: '', value: Buffer.from(text), headers: { record: '12' } })).to.equal(undefined)
  })
})

describe('signals beside the Z-score of rule scores', () => {
  const MINUTE_MS = 60_000
  /** Fourteen minutes of INFO lines, twenty a minute; then a minute of a warning that never came before, and one line more. */
  const newWarning = (level = 'WARN') => [
    ...Array.from({ length: 280 }, (_, n) => inputs([['INFO', 'fine']], NOW_MS + n * 3_000)[0]!),
    ...Array.from({ length: 60 }, (_, n) => inputs([[level, 'odd']], NOW_MS + 14 * MINUTE_MS + n * 1_000)[0]!),
    inputs([['INFO', 'fine']], NOW_MS + 15 * MINUTE_MS)[0]!,
  ]
  const found = (all: readonly StepInput[], config = CONFIG) => {
    const detector = createDetector(config)
    return all.flatMap(input => {
      const outcome = detector.process(input)
      return outcome.kind === 'emit' && outcome.value.anomaly.signal !== undefined ? [outcome.value.anomaly] : []
    })
  }

  it('are anomalies of detector zscore, and named in the reasons', () => {
    const [anomaly] = found(newWarning())
    expect(anomaly).to.deep.include({ detectors: ['zscore'] })
    expect(anomaly!.anomaly_score).to.be.at.least(2.5)
    expect(anomaly!.reasons.join()).to.match(/new pattern [\d.]+: "odd" came \d+ times in a minute, never before/)
  })

  it('are none of healthy traffic', () => {
    expect(found(newWarning('INFO'))).to.deep.equal([])
  })

  it('keep silent below anomalyThreshold', () => {
    expect(found(newWarning(), { ...CONFIG, anomalyThreshold: 100 })).to.deep.equal([])
  })

  it('are the same for the same records, also after records were read again', () => {
    const all = newWarning()
    const detector = createDetector(CONFIG)
    for (const input of all.slice(0, 300)) detector.warm(input)
    const after = all.slice(300).flatMap(input => {
      const outcome = detector.process(input)
      return outcome.kind === 'emit' && outcome.value.anomaly.signal !== undefined ? [outcome.value.anomaly] : []
    })
    expect(after).to.deep.equal(found(all).filter(({ timestamp }) => Date.parse(timestamp) >= NOW_MS + 14 * MINUTE_MS + 20_000))
    expect(after).to.have.length.above(0)
  })

  it('a service that falls silent: its last records are the anomalies', () => {
    const detector = createDetector(CONFIG)
    const silent: string[] = []
    const send = (service: string, atMs: number) => {
      const logRecords = [
        {
          timeUnixNano: `${atMs}000000`,
          severityText: 'INFO',
          body: { stringValue: 'fine' },
          traceId: `${atMs}${'a'.repeat(32)}`.slice(0, 32),
        },
      ]
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
      const [record] = etl.process(
        Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })),
        NOW_MS,
      ).records
      detector.process({ key: record!.key, value: record!.value, headers: record!.headers ?? {} })
      for (const { anomaly, event } of detector.takeSilent()) {
        expect(decodeAnomalyEvent({ key: event.key, value: event.value, headers: event.headers ?? {} })?.anomaly).to.deep.equal(anomaly)
        silent.push(`${anomaly.service} ${anomaly.signal}`)
      }
    }
    for (let n = 0; n < 20 * 20; n++) {
      const atMs = NOW_MS + n * 3_000
      send('checkout', atMs)
      if (n < 15 * 20) send('seats', atMs + 1)
    }
    expect(silent).to.have.length.above(0)
    expect(silent[0]).to.match(/^seats silence: no record for 2 minutes while others of the tenant go on/)
  })
})
