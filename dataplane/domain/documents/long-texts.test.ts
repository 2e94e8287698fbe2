import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { MAX_PIECE_BYTES, splitLongTexts } from './long-texts.ts'

describe('long texts in a flat_object', () => {
  it('become lists of pieces that OpenSearch takes and that lose nothing, however long the characters are', () => {
    fc.assert(
      fc.property(fc.constantFrom('a', 'é', '漢', '😀', '"', '\\'), fc.nat({ max: 30_000 }), (character, length) => {
        const text = `x${character.repeat(length)}`
        const split: unknown = JSON.parse(splitLongTexts(JSON.stringify(text)))
        const pieces = Array.isArray(split) ? (split as string[]) : [split as string]
        expect(pieces.join('') === text).to.equal(true)
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).to.be.at.most(MAX_PIECE_BYTES)
          expect(piece.isWellFormed()).to.equal(true)
        }
      }),
      { seed: 1, numRuns: rounds(60) },
    )
  })

  it('in a list are elements of it, and keys stay as they are', () => {
    const long = 'a'.repeat(9_000)
    const [first, second, third] = JSON.parse(splitLongTexts(JSON.stringify(['b', long]))) as string[]
    expect([first, second!.length, third!.length]).to.deep.equal(['b', 8_000, 1_000])
    expect(Object.keys(JSON.parse(splitLongTexts(JSON.stringify([{ [long]: 1 }])))[0])).to.deep.equal([long])
  })

  it('are left alone where they are short, whatever stands around them', () => {
    const json = JSON.stringify({ a: 'b'.repeat(7_000), c: 12345678901234567890n.toString() })
    expect(splitLongTexts(json)).to.equal(json)
  })
})
