import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { EditedText } from './edited-text.ts'
import { cutFragments, joinFragments } from './fragments.ts'
import { acceptJson } from './json/accept-json.ts'
import { EditList } from './layout.ts'
import { MalformedPayload } from './malformed.ts'
import type { LogRecord, LogsPayload } from './payload.ts'
import { oddRecord } from './testing/odd-records.ts'

const NOW = '1767225600000000000'
const NEIGHBOUR = {
  timeUnixNano: '1',
  severityText: 'INFO',
  body: { stringValue: 'a neighbour' },
  attributes: [{ key: 'k', value: { intValue: '7' } }],
}
const accept = (text: string) => acceptJson(Buffer.from(text), { observedTimeUnixNano: NOW })
const requestOf = (...records: readonly string[]) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join(',')}]}]}]}`
const isAccepted = (record: string) => {
  try {
    accept(requestOf(record))
    return true
  } catch (error) {
    if (error instanceof MalformedPayload) return false
    throw error
  }
}

/** All records that reach the bus in messages of this size. */
function sent(request: string, maxBytes: number): LogRecord[] {
  const { fragments } = cutFragments(accept(request), maxBytes)
  return fragments.flatMap(fragment => {
    const message = JSON.parse(Buffer.from(joinFragments([fragment])).toString()) as LogsPayload
    return message.resourceLogs!.flatMap(({ scopeLogs }) => scopeLogs!.flatMap(({ logRecords }) => logRecords!))
  })
}

describe('edits of a request', () => {
  const times: readonly { fields: string; expected: LogRecord }[] = [
    ...['0.0', '"0.0"', '0e0', '-0', '"-0"', '0E7', '-1', '"\\u0030"', '"-1.0"'].map(zero => ({
      fields: `"observedTimeUnixNano":${zero}`,
      expected: { observedTimeUnixNano: NOW },
    })),
    ...['0.5e1', '"0.5e1"', '"\\u0035"', '50e-1', '"5.0"'].map(five => ({
      fields: `"observedTimeUnixNano":${five}`,
      expected: { observedTimeUnixNano: '5' },
    })),
    { fields: '"timeUnixNano":0.5e1', expected: { timeUnixNano: '5' } },
    { fields: '"timeUnixNano":"\\u0035"', expected: { timeUnixNano: '5' } },
    { fields: '"time_unix_nano":0.0,"observed_time_unix_nano":0e0', expected: { timeUnixNano: '0', observedTimeUnixNano: NOW } },
    { fields: '"observedTimeUnixNano":"0.0","observedTimeUnixNano":"-2"', expected: { observedTimeUnixNano: NOW } },
  ]
  for (const { fields, expected } of times)
    it(`{${fields}}`, () => {
      const neighbour = JSON.stringify(NEIGHBOUR)
      expect(sent(requestOf(neighbour, `{${fields}}`, neighbour), 1 << 20)).to.deep.equal([NEIGHBOUR, expected, NEIGHBOUR])
    })

  it('odd records leave the bus messages JSON, lose none of the records, and change no neighbour', () => {
    const neighbour = JSON.stringify(NEIGHBOUR)
    fc.assert(
      fc.property(fc.array(oddRecord, { minLength: 1, maxLength: 4 }), fc.constantFrom(300, 1 << 20), (records, maxBytes) => {
        const good = records.filter(isAccepted)
        const found = sent(requestOf(...good.flatMap(record => [neighbour, record]), neighbour), maxBytes)
        if (maxBytes > 300) expect(found).to.have.length(2 * good.length + 1)
        expect(found.filter(record => record.body?.stringValue === 'a neighbour')).to.deep.equal(Array(good.length + 1).fill(NEIGHBOUR))
        for (const record of found) expect(timeOf(record), JSON.stringify(record)).to.match(/^[1-9]\d{0,19}$/)
      }),
      { seed: 31, numRuns: rounds(3000) },
    )
  })

  it('around the records that would break the request are left out, or refuse it where it needs them', () => {
    const text = requestOf(JSON.stringify(NEIGHBOUR))
    const broken = { ...accept(text), edits: [{ start: text.length - 3, end: text.length - 2, text: '' }] }
    expect(cutFragments(broken, 1 << 20).fragments).to.have.length(1)
    expect(() => cutFragments({ ...broken, needsEdits: true }, 1 << 20)).to.throw(MalformedPayload)
  })

  it('never overlap: of two edits that would, the wider stays, of equal ones the later; insertions at one place stand in their order', () => {
    const edit = fc.tuple(fc.nat(20), fc.nat(4), fc.constantFrom('a', 'b', ''))
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 12 }), all => {
        const list = new EditList()
        for (const [start, length, text] of all) list.add(start, start + length, text)
        const settled = list.settled()
        for (const [i, { start }] of settled.entries()) if (i > 0) expect(start).to.be.at.least(settled[i - 1]!.end)
        const text = new EditedText(Buffer.from('0123456789'.repeat(3)), settled)
        expect(text.bytes(0, 30).length).to.equal(text.size(0, 30))
      }),
      { seed: 32, numRuns: rounds(1000) },
    )
    const list = new EditList()
    for (const [start, end, text] of [
      [4, 4, 'x'],
      [4, 6, 'one'],
      [4, 4, 'y'],
      [4, 6, 'two'],
      [5, 6, 'inner'],
    ] as const)
      list.add(start, end, text)
    expect(list.settled().map(({ text }) => text)).to.deep.equal(['x', 'y', 'two'])
  })

  it('an edit that would break a record is not made: the record goes on as it came, and so do its neighbours', () => {
    const layout = accept(requestOf('{"timeUnixNano":"1"}', '{"timeUnixNano":"2"}', '{"timeUnixNano":"3"}'))
    const at = layout.recordBounds[2]!
    const broken = { ...layout, edits: [{ start: at, end: at + 1, text: '{{' }] }
    const { fragments, rejectedRecords } = cutFragments(broken, 1 << 20)
    expect(JSON.parse(Buffer.from(joinFragments(fragments)).toString()).resourceLogs[0].scopeLogs[0].logRecords).to.deep.equal([
      { timeUnixNano: '1' },
      { timeUnixNano: '2' },
      { timeUnixNano: '3' },
    ])
    expect(rejectedRecords).to.equal(0)
  })

  it('an edit that would break what stands around the records is not made', () => {
    const text = '{"resourceLogs":[{"schema_url":"x","scopeLogs":[{"logRecords":[{"timeUnixNano":"1"}]}]}]}'
    const layout = accept(text)
    const broken = { ...layout, edits: [{ ...layout.edits[0]!, text: '"' }] }
    const { fragments } = cutFragments(broken, 1 << 20)
    expect(JSON.parse(Buffer.from(joinFragments(fragments)).toString())).to.deep.equal(JSON.parse(text))
  })
})

/** The time that ETL takes for the record's own. */
function timeOf({ timeUnixNano = '0', observedTimeUnixNano = '0' }: LogRecord): string {
  return String(timeUnixNano) === '0' ? String(observedTimeUnixNano) : String(timeUnixNano)
}
