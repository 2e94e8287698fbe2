import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogRecord } from '../../otlp/payload.ts'
import { recordIdentity, resourceIdentity, scopeIdentity } from './record-identity.ts'

const RECORD: LogRecord = {
  timeUnixNano: '1700000000000000001',
  severityText: 'ERROR',
  severityNumber: 17,
  body: { stringValue: 'm' },
  traceId: 'ab'.repeat(16),
  attributes: [{ key: 'a', value: { kvlistValue: { values: [{ key: 'b', value: { intValue: '1' } }] } } }],
}

describe('records of one request that are equal in all of their document id', () => {
  it('have one identity, however they are spelled', () => {
    const spelled: readonly LogRecord[] = [
      { ...RECORD, timeUnixNano: 0, observedTimeUnixNano: '1700000000000000001' },
      { ...RECORD, traceId: 'AB'.repeat(16) },
      { ...RECORD, spanId: '0'.repeat(16) },
      { ...RECORD, attributes: [{ key: 'a.b', value: { intValue: 1 } }] },
      { ...RECORD, attributes: [{ key: 'a.b', value: { boolValue: true } }, ...RECORD.attributes!] },
      { ...RECORD, flags: 1, droppedAttributesCount: 5 },
    ]
    for (const record of spelled) expect(recordIdentity(record), JSON.stringify(record)).to.equal(recordIdentity(RECORD))
  })

  it('have another where anything of it differs', () => {
    const others: readonly LogRecord[] = [
      { ...RECORD, timeUnixNano: '1700000000000000002' },
      { ...RECORD, severityText: 'WARN' },
      { ...RECORD, body: { stringValue: 'n' } },
      { ...RECORD, spanId: 'cd'.repeat(8) },
      { ...RECORD, eventName: 'e' },
      { ...RECORD, attributes: [{ key: 'a', value: { intValue: '1' } }] },
      { ...RECORD, attributes: [] },
    ]
    expect(new Set([RECORD, ...others].map(recordIdentity)).size).to.equal(others.length + 1)
  })

  it('tell resources and scopes apart by their attributes, scopes by name and version, too', () => {
    const attributes = [{ key: 'a', value: { stringValue: 'x' } }]
    expect(resourceIdentity(undefined)).to.equal(resourceIdentity({ attributes: [] }))
    expect(resourceIdentity({ attributes })).not.to.equal(resourceIdentity({}))
    expect(scopeIdentity({ name: 'n' })).not.to.equal(scopeIdentity({ version: 'n' }))
    expect(scopeIdentity({ attributes })).not.to.equal(scopeIdentity())
  })
})
