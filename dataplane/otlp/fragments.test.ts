import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { cutFragments, joinFragments, MAX_MESSAGE_RECORDS, MAX_REPEATED_BYTES } from './fragments.ts'
import { acceptJson } from './json/accept-json.ts'
import { OversizedPayload } from './malformed.ts'
import type { LogsPayload, ResourceLogs } from './payload.ts'
import { payloadArbitrary } from './testing/payload-arbitrary.ts'

const accept = (text: string) => acceptJson(Buffer.from(text), { observedTimeUnixNano: '9' })

/** Every record with what stands around it, in order. */
function unfold(resources: readonly ResourceLogs[]): object[] {
  return resources.flatMap(({ scopeLogs = [], ...resource }) =>
    scopeLogs.flatMap(({ logRecords = [], ...scope }) => logRecords.map(record => ({ resource, scope, record }))),
  )
}

function cut(text: string, maxBytes: number) {
  const { fragments, rejectedRecords } = cutFragments(accept(text), maxBytes)
  const messages = fragments.map(fragment => Buffer.from(joinFragments([fragment])).toString())
  return { fragments, rejectedRecords, messages, payloads: messages.map(each => JSON.parse(each) as LogsPayload) }
}
const request = (records: readonly string[], resource = '') =>
  `{"resourceLogs":[{${resource}"scopeLogs":[{"logRecords":[${records.join(',')}]}]}]}`
const recordOf = (bytes: number) => `{"timeUnixNano":"1","severityText":"${'x'.repeat(bytes - 37)}"}`

describe('bus messages: valid OTLP JSON of a bounded size', () => {
  it('a request larger than a message is split by resource, then by records; nothing is lost or invented', () => {
    fc.assert(
      fc.property(payloadArbitrary, fc.integer({ min: 150, max: 2000 }), (payload, maxBytes) => {
        const { fragments, rejectedRecords, messages, payloads } = cut(JSON.stringify(payload), maxBytes)
        for (const [i, message] of messages.entries()) {
          expect(Buffer.byteLength(message)).to.be.at.most(maxBytes)
          expect(Buffer.byteLength(message)).to.equal(fragments[i]!.sizeBytes + 19)
        }
        const sent = payloads.flatMap(({ resourceLogs = [] }) => unfold(resourceLogs))
        const given = unfold(JSON.parse(JSON.stringify(payload)).resourceLogs)
        expect(sent.length + rejectedRecords).to.equal(given.length)
        expect(fragments.reduce((sum, each) => sum + each.recordCount, 0)).to.equal(sent.length)
        let from = 0
        for (const each of sent) {
          const at = given.findIndex((other, i) => i >= from && JSON.stringify(other) === JSON.stringify(each))
          expect(at).to.be.at.least(from)
          from = at + 1
        }
      }),
      { seed: 5, numRuns: rounds(300) },
    )
  })

  it('fills each message before it starts the next', () => {
    const { payloads, rejectedRecords } = cut(request(Array(10).fill(recordOf(100))), 500)
    expect(payloads.map(({ resourceLogs }) => unfold(resourceLogs!).length)).to.deep.equal([4, 4, 2])
    expect(rejectedRecords).to.equal(0)
  })

  it('a single record larger than a message is rejected, the others are kept', () => {
    const { payloads, rejectedRecords } = cut(request([recordOf(100), recordOf(600), recordOf(100)]), 500)
    expect(rejectedRecords).to.equal(1)
    expect(payloads.flatMap(({ resourceLogs }) => unfold(resourceLogs!))).to.have.length(2)
  })

  it('a resource too large to be repeated goes with as many records as fit into one message', () => {
    const { messages, rejectedRecords } = cut(request(Array(10).fill(recordOf(50)), `"schemaUrl":"${'u'.repeat(300)}",`), 500)
    expect(messages).to.have.length(1)
    expect(rejectedRecords).to.equal(8)
  })

  it('a message holds a bounded number of records, however small they are', () => {
    for (const resource of ['', `"schemaUrl":"${'u'.repeat(500_000)}",`]) {
      const { fragments, rejectedRecords } = cut(request(Array(25_000).fill('{}'), resource), 921_600)
      expect(fragments.map(({ recordCount }) => recordCount)).to.deep.equal([MAX_MESSAGE_RECORDS, MAX_MESSAGE_RECORDS, 5_000])
      expect(rejectedRecords).to.equal(0)
    }
  })

  it('a request whose messages would repeat too much of a resource is refused, whether by its records or by its scopes', () => {
    const resource = `"schemaUrl":"${'u'.repeat(400_000)}",`
    const records = (count: number) => request(Array(count).fill(recordOf(100_000)), resource)
    const scopes = (count: number) =>
      `{"resourceLogs":[{${resource}"scopeLogs":[${Array(count)
        .fill(`{"scope":{"name":"${'s'.repeat(80_000)}"},"logRecords":[${recordOf(50)}]}`)
        .join()}]}]}`
    for (const [body, fits] of [
      [records(150), true],
      [records(250), false],
      [scopes(150), true],
      [scopes(300), false],
      [`{"resourceLogs":[${Array(2).fill(records(150).slice(17, -2)).join()}]}`, false],
    ] as const) {
      const attempt = () => cutFragments(accept(body), 921_600)
      if (!fits) expect(attempt).to.throw(OversizedPayload, /more than 16777216 bytes.*send fewer records/)
      else {
        const { fragments, repeatedBytes } = attempt()
        const sent = fragments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
        expect(repeatedBytes).to.be.within(1_000_000, MAX_REPEATED_BYTES)
        expect(sent).to.be.below(body.length + repeatedBytes)
      }
    }
  })

  it('edits go with the records they belong to', () => {
    const { payloads } = cut(request(Array(10).fill('{"severity_text":"a"}')), 200)
    expect(payloads.length).to.be.above(1)
    for (const { record } of payloads.flatMap(({ resourceLogs }) => unfold(resourceLogs!)) as { record: object }[])
      expect(record).to.deep.equal({ observedTimeUnixNano: '9', severityText: 'a' })
  })
})
