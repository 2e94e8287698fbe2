import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MalformedPayload } from '../malformed.ts'
import { acceptJson } from './accept-json.ts'

const OPTIONS = { observedTimeUnixNano: '1767225600000000000' }
const PLAIN = [
  '{"key":"service.name","value":{"stringValue":"checkout"}}',
  '{"key":"tenant_id","value":{"stringValue":"a\\"b\\ud800é"}}',
  '{"key":"k","value":{"stringValue":""}}',
  '{"key":"k","value":{"intValue":"-12"}}',
  '{"key":"k","value":{"intValue":"9223372036854775807"}}',
  '{"key":"k","value":{"intValue":200}}',
  '{"key":"k","value":{"intValue":9007199254740993}}',
  '{"key":"k","value":{"doubleValue":-12.75}}',
  '{"key":"k","value":{"doubleValue":1e5}}',
  '{"key":"k","value":{"boolValue":true}}',
  '{"key":"k","value":{"boolValue":false}}',
]

/** A resource, a record and a body with this attribute; a tail long enough for it to be matched. */
function outcome(attribute: Uint8Array) {
  const before = '{"resourceLogs":[{"resource":{"attributes":['
  const between = ']},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","attributes":['
  const after = ']}],"schemaUrl":"https://opentelemetry.io/schemas/1.40.0"}]}]}'
  const text = Buffer.concat([Buffer.from(before), attribute, Buffer.from(between), attribute, Buffer.from(after)])
  try {
    const { resources, edits, recordCount } = acceptJson(text, OPTIONS)
    const { service, tenantId } = resources[0]!
    return { service, tenantId, recordCount, edits: edits.map(edit => edit.text) }
  } catch (error) {
    if (error instanceof MalformedPayload) return 'malformed'
    throw error
  }
}

/** With a space, by which it is looked at name by name. */
const inPieces = (attribute: Uint8Array) => Buffer.concat([attribute.subarray(0, 1), Buffer.from(' '), attribute.subarray(1)])

describe('OTLP JSON: attributes of the usual form', () => {
  it('are taken as those are that have spaces, changed at any byte, too', () => {
    for (const plain of PLAIN) {
      const bytes = Buffer.from(plain)
      expect(outcome(bytes), plain).to.deep.equal(outcome(inPieces(bytes)))
      for (let at = 1; at < bytes.length; at++)
        for (const byte of Buffer.from('\u0000 "\\,:{}09.-e')) {
          const changed = Buffer.from(bytes)
          changed[at] = byte
          expect(outcome(changed), `byte ${at} of ${plain} as ${byte}`).to.deep.equal(outcome(inPieces(changed)))
        }
    }
  })

  it('cut off anywhere are malformed', () => {
    for (const plain of PLAIN)
      for (let end = 1; end < plain.length; end++) {
        const text = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[${plain.slice(0, end)}`
        expect(() => acceptJson(Buffer.from(text), OPTIONS), text).to.throw(MalformedPayload)
      }
  })

  it('have a lone surrogate mended once, also where something follows the string', () => {
    for (const body of ['{"stringValue":"\\ud800"}', '{"stringValue":"\\ud800" }', '{"stringValue":"\\ud800","unknown":1}']) {
      const text = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":${body}}]}]}]}`
      expect(acceptJson(Buffer.from(text), OPTIONS).edits.map(edit => edit.text)).to.deep.equal(['\\ufffd'])
    }
  })
})
