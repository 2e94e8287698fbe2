/** Numbers in blocks come back as they were, and blocks tell their bounds. */
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { PackedNumbers, packNumbers } from './number-blocks.ts'

const anyNumbers = fc
  .tuple(fc.integer({ min: 0, max: 32 }), fc.integer({ min: 0, max: 2_000 }), fc.integer())
  .map(([bits, count, seed]) => {
    let state = seed >>> 0
    return Uint32Array.from({ length: count }, (_none, at) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      // Far apart now and then, as times of late documents are.
      return at % 700 === 699 ? state : bits === 0 ? 7 : state >>> (32 - bits)
    })
  })

describe('numbers in blocks', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(anyNumbers, fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), (numbers, base) => {
        const packed = new PackedNumbers(packNumbers(numbers), numbers.length, base)
        expect([...packed.all()]).to.deep.equal(Array.from(numbers, number => base + number))
        for (let block = 0; block < packed.least.length; block++) {
          const own = [...numbers.subarray(block * packed.length, (block + 1) * packed.length)]
          expect(packed.least[block]).to.equal(base + Math.min(...own))
          expect(packed.greatest[block]).to.equal(base + Math.max(...own))
        }
      }),
    )
  })

  it('take less than two bytes each where they are times a few seconds apart', () => {
    const times = Uint32Array.from({ length: 57_344 }, (_none, at) => 2_000 + at * 17 - ((at * 7_919) % 2_000))
    expect(packNumbers(times).byteLength / times.length).to.be.below(1.9)
  })

  it('may be none', () => {
    expect([...new PackedNumbers(packNumbers(new Uint32Array(0)), 0, 5).all()]).to.deep.equal([])
  })
})
