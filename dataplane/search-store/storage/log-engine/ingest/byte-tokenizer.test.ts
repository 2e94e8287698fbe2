import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { analyze } from '../../../analysis/standard-analyzer.ts'
import { fieldSeeds, hashTerm } from '../format/term-hash.ts'
import { hashJsonString, tokenizeJsonString } from './byte-tokenizer.ts'

const seeds = fieldSeeds('message')

function hashesOf(terms: readonly string[]): number[] {
  const out = new Int32Array(2 * terms.length)
  for (const [k, term] of terms.entries()) hashTerm(seeds, term, out, 2 * k)
  return [...out]
}

/** Undefined: left to the analyzer on strings. */
function tokenize(text: string): number[] | undefined {
  const bytes = Buffer.from(JSON.stringify(text))
  const out = new Int32Array(2 * bytes.length + 16)
  const state = { position: 0, out: 0, shapeLo: 0, shapeHi: 0 }
  tokenizeJsonString(bytes, 1, bytes.length, seeds, out, state)
  if (state.position < 0) return undefined
  expect(state.position).to.equal(bytes.length)
  return [...out.subarray(0, state.out)]
}

const piece = fc.constantFrom('a', 'Z', 'foo', '7', '42', '_', '.', ':', ',', ';', "'", '-', ' ', '/', '"', '\\', '\n', '\t', '{', '=')

describe('tokens straight from the bytes', () => {
  it('are those of the standard analyzer', () =>
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map(pieces => pieces.join('')),
        text => {
          expect(tokenize(text)).to.deep.equal(hashesOf(analyze(text)))
        },
      ),
      { numRuns: rounds(2000), seed: 3 },
    ))

  it('are those of the standard analyzer for any text, or left to it', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), text => {
        const found = tokenize(text)
        if (found !== undefined) expect(found).to.deep.equal(hashesOf(analyze(text)))
      }),
      { numRuns: rounds(2000), seed: 4 },
    ))

  it('leaves words longer than 255 characters, letters beyond ASCII and unusual escapes to the analyzer', () => {
    for (const text of ['x'.repeat(256), 'né', 'a\u0001b', '日本']) expect(tokenize(text), text).to.equal(undefined)
    expect(tokenize('x'.repeat(255))).to.deep.equal(hashesOf(['x'.repeat(255)]))
  })

  it('hashes a whole string as one term', () => {
    for (const text of ['', 'GET', 'naïve 日本']) {
      const bytes = Buffer.from(JSON.stringify(text))
      const out = new Int32Array(2)
      const state = { position: 0, hasNonAscii: false }
      hashJsonString(bytes, 1, bytes.length, seeds, out, 0, state)
      expect([...out]).to.deep.equal(hashesOf([text]))
      expect(state).to.deep.equal({ position: bytes.length, hasNonAscii: bytes.length > text.length + 2 })
    }
  })
})
