import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { formatCursor, parseCursor } from './incident-list.ts'

describe('cursor of the incident list', () => {
  it('comes back as it was made', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string({ unit: 'binary' }), (createdAtMs, id) => {
        expect(parseCursor(formatCursor([createdAtMs, id]))).to.deep.equal([Object.is(createdAtMs, -0) ? 0 : createdAtMs, id])
      }),
      { seed: 1 },
    )
  })

  it('anything else is none, and never an error', () => {
    for (const value of [{}, [1], [1, 2], ['1', 'a'], [1.5, 'a'], [1, 'a', 2], null, 'x'])
      expect(parseCursor(Buffer.from(JSON.stringify(value)).toString('base64url')), JSON.stringify(value)).to.equal(undefined)
    fc.assert(
      fc.property(fc.string(), text => {
        expect(parseCursor(text)).to.equal(undefined)
      }),
      { seed: 1 },
    )
  })
})
