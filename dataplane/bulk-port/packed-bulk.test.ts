import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { BULK_ACTIONS, type PackableOperation, packBulk, unpackBulk } from './packed-bulk.ts'

const part = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array().map(bytes => bytes),
)
const operation: fc.Arbitrary<PackableOperation> = fc.record(
  {
    action: fc.constantFrom(...BULK_ACTIONS),
    index: fc.constantFrom('a', 'b', 'c'),
    id: fc.string({ unit: 'grapheme' }),
    body: part,
    upsert: part,
  },
  { requiredKeys: ['action', 'index', 'id', 'body'] },
)
const bytes = (text: string | Uint8Array) => [...(typeof text === 'string' ? Buffer.from(text) : text)]

describe('a bulk in one buffer', () => {
  it('holds the operations as they were', () =>
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), operations => {
        const unpacked = unpackBulk(packBulk(operations, size => Buffer.allocUnsafeSlow(size + 7)))
        expect(
          unpacked.map(({ body, upsert, ...rest }) => ({ ...rest, body: bytes(body), upsert: upsert && bytes(upsert) })),
        ).to.deep.equal(
          operations.map(({ action, index, id, body, upsert }) => ({
            ...{ action, index, id, body: bytes(body) },
            upsert: upsert === undefined ? undefined : bytes(upsert),
          })),
        )
      }),
    ))
})
