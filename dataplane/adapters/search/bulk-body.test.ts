import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { BulkOperation } from '../../ports/search-store.ts'
import { buildBulkBody } from './bulk-body.ts'

const json = fc.json({ noUnicodeString: false }).map(text => text.replaceAll(/[\r\n]/g, ' '))
const part = fc.oneof(
  json,
  json.map(text => new TextEncoder().encode(text)),
)
const operation: fc.Arbitrary<BulkOperation> = fc.record(
  {
    action: fc.constantFrom('create', 'index', 'update'),
    index: fc.oneof(fc.constant('service-logs-2026.11.21'), fc.string({ unit: 'grapheme', minLength: 1 })),
    id: fc.oneof(fc.uuid(), fc.string({ unit: 'binary', minLength: 1 })),
    body: part,
    upsert: part,
  },
  { requiredKeys: ['action', 'index', 'id', 'body'] },
)

const text = (bytes: string | Uint8Array) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString())

function linesOf({ action, index, id, body, upsert }: BulkOperation): string {
  const head = JSON.stringify({ [action]: { _index: index, _id: id } })
  if (action !== 'update') return `${head}\n${text(body)}\n`
  return `${head}\n{"doc":${text(body)}${upsert === undefined ? '' : `,"upsert":${text(upsert)}`}}\n`
}

describe('the body of a bulk request', () => {
  it('has two lines for each operation', () =>
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), operations => {
        expect(buildBulkBody(operations).toString()).to.equal(Buffer.from(operations.map(linesOf).join('')).toString())
      }),
    ))
})
