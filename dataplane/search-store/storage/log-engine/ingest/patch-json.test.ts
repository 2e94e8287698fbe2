import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { patchJson } from './patch-json.ts'

const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => (Object.is(n, -0) ? 0 : n)),
  fc.boolean(),
  fc.constant(null),
)
const name = fc.oneof(fc.constantFrom('a', 'b', 'service', '__proto__', 'é', ''), fc.string({ maxLength: 4 }))
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 2 }))

function patch(source: string, members: Record<string, unknown>): string | undefined {
  const patched = patchJson(Buffer.from(source), members)
  return patched === undefined ? undefined : Buffer.from(patched).toString()
}

describe('patching a stored document', () => {
  it('gives what parsing, merging and writing would', () =>
    fc.assert(
      fc.property(
        fc.dictionary(name, value, { maxKeys: 6 }),
        fc.dictionary(name, fc.oneof(scalar, fc.array(scalar)), { maxKeys: 3 }),
        fc.constantFrom(undefined, ' '),
        (stored, members, space) => {
          const found = patch(JSON.stringify(stored, undefined, space), members)
          if (found === undefined) return
          const merged = Object.fromEntries([...Object.entries(stored), ...Object.entries(members)])
          expect(JSON.parse(found)).to.deep.equal(JSON.parse(JSON.stringify(merged)))
        },
      ),
      { numRuns: rounds(1000), seed: 9 },
    ))

  it('keeps every other byte', () => {
    expect(patch('{ "big": 1234567890123456789, "x" : 1 ,"y":[1, 2]}', { x: 2 })).to.equal(
      '{ "big": 1234567890123456789, "x" : 2 ,"y":[1, 2]}',
    )
    expect(patch('{}', { x: 2 })).to.equal('{"x":2}')
    expect(patch('{"a":1}', { x: [1], y: null })).to.equal('{"a":1,"x":[1],"y":null}')
  })

  it('gives the same array back when nothing changes', () => {
    const source = Buffer.from('{"a":1.0,"b":"x"}')
    expect(patchJson(source, { a: 1, b: 'x' })).to.equal(source)
  })

  it('leaves objects, escaped names and names that come twice to the parser', () => {
    expect(patch('{"a":{"b":1}}', { a: 1 })).to.equal(undefined)
    expect(patch('{"a":1}', { a: { b: 1 } })).to.equal(undefined)
    expect(patch('{"\\u0061":1}', { a: 2 })).to.equal(undefined)
    expect(patch('{"a":1,"a":2}', { a: 3 })).to.equal(undefined)
  })
})
