import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ActionLines } from './bulk-action-line.ts'

const PLAIN = '{"create":{"_index":"logs-1","_id":"a"}}'

/** Lines that follow a plain one; each is read as if it stood alone. */
const LINES: readonly string[] = [
  '{"create":{"_index":"logs-1","_id":"b"}}',
  '{"create":{"_index":"logs-1","_id":"a longer id, of more bytes"}}',
  '{"create":{"_index":"logs-1","_id":"ü"}}',
  '{"create":{"_index":"logs-1","_id":"\\u00e9\\""}}',
  '{"create":{"_index":"logs-1","_id":"b","if_seq_no":"1"}}',
  '{"create":{"_index":"logs-1","_id":"b","require_alias":true}}',
  '{"create":{"_index":"logs-1","_id":""}}',
  '{"create":{"_index":"logs-1","_id":7}}',
  '{"create":{"_index":"logs-1"}}',
  '{"create":{"_index":"logs-2","_id":"b"}}',
  '{"index":{"_index":"logs-1","_id":"b"}}',
  '{"index":{"_index":"logs-1","_id":"b","op_type":"create"}}',
  '{"delete":{"_id":"b","_index":"logs-1"}} \r',
]

describe('action lines of _bulk', () => {
  for (const line of LINES)
    it(line.trim(), () => {
      const alone = new ActionLines(Buffer.from(line)).read(0, Buffer.byteLength(line), 1)
      const body = Buffer.from(`${PLAIN}\n${line}\n`)
      const lines = new ActionLines(body)
      expect(lines.read(0, PLAIN.length, 1)).to.deep.equal({ action: 'create', index: 'logs-1', id: 'a' })
      expect(lines.read(PLAIN.length + 1, body.length - 1, 2)).to.deep.equal(alone)
    })

  for (const [name, id] of [
    ['a control character', '\u0001'],
    ['a quote', '"'],
  ] as const)
    it(`refuses ${name} in an id`, () => {
      const body = Buffer.from(`${PLAIN}\n${PLAIN.replace('"a"', `"${id}"`)}\n`)
      const lines = new ActionLines(body)
      lines.read(0, PLAIN.length, 1)
      expect(() => lines.read(PLAIN.length + 1, body.length - 1, 2)).to.throw('Malformed action/metadata line [2]')
    })
})
