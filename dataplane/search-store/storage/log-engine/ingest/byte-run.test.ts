import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { byteRun } from './byte-run.ts'

const bytes = fc.uint8Array({ maxLength: 30, max: 2 })

describe('a run of bytes', () => {
  it('is found where it stands, and nowhere else', () =>
    fc.assert(
      fc.property(bytes, bytes, bytes, fc.nat(40), (before, run, after, at) => {
        const text = Buffer.concat([before, run, after])
        const view = new DataView(Uint8Array.from(text).buffer)
        const isThere = at + run.length <= text.length && text.subarray(at, at + run.length).equals(run)
        expect(byteRun(run).isAt(view, before.length, text.length)).to.equal(true)
        expect(byteRun(run).isAt(view, at, text.length)).to.equal(isThere)
      }),
      { numRuns: rounds(1000), seed: 3 },
    ))
})
