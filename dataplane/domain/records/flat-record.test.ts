import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { KeyValue, LogRecord } from '../../otlp/payload.ts'
import { type FlattenConfig, flattenRecord, messageOf, recordTimes } from './flat-record.ts'
import { shareResource, shareScope } from './shared-attributes.ts'

const CONFIG: FlattenConfig = { defaultTenant: 'default', lookupFeatures: () => undefined }
const RECEIVED_MS = Date.UTC(2026, 10, 21, 12)
const DAY = { receivedAtMs: RECEIVED_MS, retentionDays: 30 }

function attributes(values: Readonly<Record<string, string>>): KeyValue[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}

interface Parts {
  readonly resource?: readonly KeyValue[]
  readonly scope?: readonly KeyValue[]
  readonly record?: LogRecord
}

const RECORD: LogRecord = {
  timeUnixNano: `${RECEIVED_MS}123456`,
  severityText: 'ERROR',
  severityNumber: 17,
  body: { stringValue: 'payment 17 failed' },
  traceId: '70AD787D48FD22A2601C24C7AC76F948',
  spanId: 'a75d0dff13b423aa',
}

function flatten({ resource = [], scope = [], record = RECORD }: Parts, config = CONFIG) {
  const times = recordTimes(record, RECEIVED_MS)
  if (times === undefined) throw new Error('no time')
  const shared = { resource: shareResource({ attributes: resource }), scope: shareScope({ attributes: scope }) }
  return flattenRecord({ ...shared, isPartial: false, record, times, day: DAY }, config)
}

describe('ETL unwraps the three OTLP nesting levels into one flat record per log record', () => {
  it('has the fields of the flat enriched record', () => {
    const { canonical, attributes: kept } = flatten({
      resource: attributes({
        'service.name': 'checkout',
        'host.name': 'node-1',
        'cloud.region': 'eu',
        'deployment.environment.name': 'prod',
      }),
    })
    expect(canonical).to.deep.equal({
      document_id: canonical.document_id,
      index_day: '2026.11.21',
      '@timestamp': '2026-11-21T12:00:00.000123456Z',
      nanos: 123_456,
      time_unix_nano: `${RECEIVED_MS}123456`,
      log_id: canonical.log_id,
      tenant_id: 'default',
      service: 'checkout',
      host: 'node-1',
      environment: 'prod',
      region: 'eu',
      level: 'ERROR',
      severity_number: 17,
      trace_id: '70ad787d48fd22a2601c24c7ac76f948',
      span_id: 'a75d0dff13b423aa',
      message: 'payment 17 failed',
      pattern_id: canonical.pattern_id,
      pattern: 'payment <*> failed',
      ml_error_rate_1h: 0,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 0,
      ml_anomaly_history_count: 0,
      enriched: true,
    })
    expect(kept.get('severity_text')).to.equal('"ERROR"')
  })

  const canonical = [
    { name: 'service absent: unknown_service', parts: {}, expected: { service: 'unknown_service' } },
    {
      name: 'host ← k8s.pod.name without host.name',
      parts: { resource: attributes({ 'k8s.node.name': 'n', 'k8s.pod.name': 'p' }) },
      expected: { host: 'p' },
    },
    { name: 'host ← k8s.node.name as the last', parts: { resource: attributes({ 'k8s.node.name': 'n' }) }, expected: { host: 'n' } },
    {
      name: 'environment ← deployment.environment',
      parts: { resource: attributes({ 'deployment.environment': 'old' }) },
      expected: { environment: 'old' },
    },
    { name: 'batch_id ← batch_id', parts: { resource: attributes({ batch_id: 'b1' }) }, expected: { batch_id: 'b1' } },
    {
      name: 'from the resource first',
      parts: { resource: attributes({ 'service.name': 'r' }), record: { ...RECORD, attributes: attributes({ 'service.name': 'l' }) } },
      expected: { service: 'r' },
    },
    {
      name: 'from the record’s attributes only where the resource lacks them',
      parts: { record: { ...RECORD, attributes: attributes({ 'service.name': 'l' }) } },
      expected: { service: 'l' },
    },
    {
      name: 'a resource’s k8s.node.name before a record’s host.name',
      parts: { resource: attributes({ 'k8s.node.name': 'n' }), record: { ...RECORD, attributes: attributes({ 'host.name': 'h' }) } },
      expected: { host: 'n' },
    },
    {
      name: 'an empty value counts as absent',
      parts: { resource: attributes({ 'service.name': '' }) },
      expected: { service: 'unknown_service' },
    },
    { name: 'tenant_id of the resource', parts: { resource: attributes({ tenant_id: 'acme' }) }, expected: { tenant_id: 'acme' } },
    {
      name: 'an invalid tenant_id gets the default',
      parts: { resource: attributes({ tenant_id: 'Acme Corp' }) },
      expected: { tenant_id: 'default' },
    },
    {
      name: 'a tenant_id that is no text gets the default, as at the collector',
      parts: { resource: [{ key: 'tenant_id', value: { intValue: '5' } }] },
      expected: { tenant_id: 'default' },
    },
    {
      name: 'a record’s tenant_id changes nothing',
      parts: { record: { ...RECORD, attributes: attributes({ tenant_id: 'acme' }) } },
      expected: { tenant_id: 'default' },
    },
    { name: 'tenant.id is another name', parts: { resource: attributes({ 'tenant.id': 'acme' }) }, expected: { tenant_id: 'default' } },
  ]
  for (const { name, parts, expected } of canonical) it(name, () => expect(flatten(parts).canonical).to.include(expected))

  it('a trace or span id of wrong length or all zero is treated as absent; the record is kept', () => {
    const { canonical } = flatten({ record: { ...RECORD, traceId: 'abc', spanId: '0'.repeat(16) } })
    expect(canonical).to.not.have.any.keys('trace_id', 'span_id')
  })

  it('canonical fields win over attributes of the same name; the loser stays under attributes', () => {
    const spellings = [
      'service',
      'level',
      'is.anomaly',
      'is_anomaly',
      'anomaly_score',
      'log.id',
      'ml.error_rate_1h',
      'enriched',
      'tenant_id',
      'attributes',
    ]
    const { canonical, attributes: kept } = flatten({
      record: { ...RECORD, attributes: attributes(Object.fromEntries(spellings.map(key => [key, 'mine']))) },
    })
    expect(Object.values(canonical)).to.not.include('mine')
    expect([...kept.keys()]).to.deep.equal([...spellings, 'severity_text'])
  })

  it('keeps scope, event name and original severity text as attributes', () => {
    const times = recordTimes(RECORD, RECEIVED_MS)!
    const record = { ...RECORD, severityText: 'Err', eventName: 'order.placed' }
    const flat = flattenRecord(
      {
        resource: shareResource(undefined),
        scope: shareScope({ name: 'com.shop', version: '1.2' }),
        isPartial: false,
        record,
        times,
        day: DAY,
      },
      CONFIG,
    )
    expect(Object.fromEntries(flat.attributes)).to.deep.equal({
      'otel.scope.name': '"com.shop"',
      'otel.scope.version': '"1.2"',
      'event.name': '"order.placed"',
      severity_text: '"Err"',
    })
    expect(flat.canonical.level).to.equal('ERROR')
  })

  it('looks up the record’s tenant and service in the feature store', () => {
    const asked: string[] = []
    const lookupFeatures = (tenant: string, service: string) => {
      asked.push(`${tenant}/${service}`)
      return 'unreachable' as const
    }
    const { canonical } = flatten(
      { resource: attributes({ 'service.name': 'checkout', tenant_id: 'acme' }) },
      { ...CONFIG, lookupFeatures },
    )
    expect(asked).to.deep.equal(['acme/checkout'])
    expect(canonical.enriched).to.equal(false)
  })
})

describe('a record without a body that has an exception', () => {
  const exception = attributes({ 'exception.type': 'TypeError', 'exception.message': 'cart 17 is undefined' })
  it('says it as its message, and its pattern is of that', () => {
    for (const body of [{}, { stringValue: '' }])
      expect(flatten({ record: { body, attributes: exception } }).canonical).to.include({
        message: 'TypeError: cart 17 is undefined',
        pattern: 'TypeError: cart <*> is undefined',
      })
  })

  it('of the resource alone says nothing', () => {
    expect(flatten({ record: {}, resource: exception }).canonical).to.include({ message: '', pattern: '' })
  })
})

describe('the message', () => {
  const cases: readonly { name: string; body: LogRecord['body']; expected: string }[] = [
    { name: 'a string is the message', body: { stringValue: 'hello' }, expected: 'hello' },
    {
      name: 'anything else becomes its compact JSON text',
      body: { kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } },
      expected: '{"a":1}',
    },
    { name: 'a number', body: { doubleValue: 2 }, expected: '2' },
    { name: 'an absent body is the empty message', body: undefined, expected: '' },
    { name: 'an empty value is the empty message', body: {}, expected: '' },
  ]
  for (const { name, body, expected } of cases) it(name, () => expect(messageOf(body)).to.equal(expected))
})

describe('times of a record', () => {
  const time = (record: LogRecord) => recordTimes(record, 5)?.timestamp.timeUnixNano
  it('timeUnixNano, else observedTimeUnixNano', () => {
    expect(time({ timeUnixNano: '7', observedTimeUnixNano: '8' })).to.equal('7')
    expect(time({ timeUnixNano: '0', observedTimeUnixNano: '8' })).to.equal('8')
  })
  it('with neither the time of arrival', () => expect(time({})).to.equal('5000000'))
  it('a negative one is unknown', () => expect(time({ timeUnixNano: '-7', observedTimeUnixNano: '8' })).to.equal('8'))
  it('text is no time', () => expect(time({ timeUnixNano: 'now', observedTimeUnixNano: '8' })).to.equal(undefined))
})

describe('the document id: different records never overwrite each other, the same record always gives the same id', () => {
  const id = (parts: Parts) => flatten(parts).canonical.document_id
  const base: Parts = {
    resource: attributes({ 'service.name': 's', a: '1' }),
    record: { ...RECORD, attributes: attributes({ x: '1', y: '2' }) },
  }
  const others: readonly { name: string; parts: Parts }[] = [
    { name: 'body', parts: { ...base, record: { ...base.record, body: { stringValue: 'other' } } } },
    { name: 'a record attribute', parts: { ...base, record: { ...base.record, attributes: attributes({ x: '1', y: '3' }) } } },
    { name: 'a resource attribute', parts: { ...base, resource: attributes({ 'service.name': 's', a: '2' }) } },
    { name: 'a scope attribute', parts: { ...base, scope: attributes({ s: '1' }) } },
    { name: 'severity', parts: { ...base, record: { ...base.record, severityText: 'WARN' } } },
    { name: 'severity number', parts: { ...base, record: { ...base.record, severityNumber: 18 } } },
    { name: 'tenant', parts: { ...base, resource: attributes({ 'service.name': 's', a: '1', tenant_id: 'acme' }) } },
    { name: 'time', parts: { ...base, record: { ...base.record, timeUnixNano: `${RECEIVED_MS}123457` } } },
    {
      name: 'the type of a value',
      parts: { ...base, record: { ...base.record, attributes: [...attributes({ x: '1' }), { key: 'y', value: { intValue: 2 } }] } },
    },
    {
      name: 'where an attribute stands',
      parts: { ...base, scope: attributes({ x: '1' }), record: { ...base.record, attributes: attributes({ y: '2' }) } },
    },
  ]
  for (const { name, parts } of others) it(`another ${name}, another id`, () => expect(id(parts)).to.not.equal(id(base)))

  it('is a UUID, version 5', () => expect(id(base)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))

  it('ids of either case, integers as strings or numbers: the same record', () => {
    const withInt = (intValue: string | number) => id({ record: { ...RECORD, attributes: [{ key: 'n', value: { intValue } }] } })
    expect(withInt('5')).to.equal(withInt(5))
    expect(id({ ...base, record: { ...base.record, traceId: RECORD.traceId!.toLowerCase() } })).to.equal(id(base))
  })

  it('is stable under the order of keys', () => {
    const list = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { maxKeys: 8, noNullPrototype: true })
    fc.assert(
      fc.property(list, list, fc.integer(), (resource, record, rotate) => {
        const turned = (values: KeyValue[]) =>
          [...values.slice(rotate % (values.length || 1)), ...values.slice(0, rotate % (values.length || 1))].reverse()
        const one = id({ resource: attributes(resource), record: { ...RECORD, attributes: attributes(record) } })
        const other = id({ resource: turned(attributes(resource)), record: { ...RECORD, attributes: turned(attributes(record)) } })
        expect(other).to.equal(one)
      }),
      { seed: 7 },
    )
  })
})
