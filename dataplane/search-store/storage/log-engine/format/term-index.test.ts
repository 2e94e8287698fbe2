import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { TermTable } from '../tail/term-table.ts'
import { commonDocuments, encodeTerms, listOf, rareCandidates } from './term-index.ts'

function inOneGo<T>(pieces: Generator<void, T, undefined>): T {
  for (;;) {
    const piece = pieces.next()
    if (piece.done === true) return piece.value
  }
}

/** Lays the parts out one after the other, as in a file. */
function layOut(table: TermTable, size: number) {
  const encoded = inOneGo(encodeTerms(table, size))
  const parts = [encoded.rareStarts, encoded.rare, encoded.commonStarts, encoded.common, encoded.apart].map(part =>
    Buffer.from(part.buffer, part.byteOffset, part.byteLength),
  )
  const offsets = parts.map((_, k) => parts.slice(0, k).reduce((sum, part) => sum + part.length, 0)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const file = Buffer.concat(parts)
  const [rareStarts, rare, commonStarts, common, apart] = offsets
  const sections = { rareBits: encoded.rareBits, commonBits: encoded.commonBits, rareStarts, rare, commonStarts, common, apart }
  return { sections, read: (length: number, position: number) => file.subarray(position, position + length) }
}

describe('inverted index', () => {
  it('gives the documents of every term, in memory and sealed', () =>
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer()), { maxLength: 20 }), { maxLength: 400 }),
        documents => {
          const table = new TermTable()
          const model = new Map<number, number[]>()
          for (const [doc, terms] of documents.entries())
            for (const term of terms) {
              table.add(loOf(term), hiOf(term), doc)
              const docs = model.get(term) ?? []
              if (docs.at(-1) !== doc) docs.push(doc)
              model.set(term, docs)
            }
          expect(table.size).to.equal(model.size)
          const { sections, read } = layOut(table, documents.length)
          for (const [term, docs] of model) {
            expect([...table.documents(loOf(term), hiOf(term))]).to.deep.equal(docs)
            const common = commonDocuments(sections, read, loOf(term), hiOf(term))
            if (docs.length > 1) expect([...listOf(common!)]).to.deep.equal(docs)
            else {
              expect(common).to.equal(undefined)
              expect(rareCandidates(sections, read, hiOf(term))).to.include(docs[0])
            }
          }
          expect(table.documents(1, 2).length).to.equal(0)
        },
      ),
      { numRuns: 60, seed: 6 },
    ))

  it('holds terms of very many documents', () => {
    const table = new TermTable()
    for (let doc = 0; doc < 65_536; doc++) {
      table.add(loOf(1), hiOf(1), doc)
      if (doc % 2 === 0) table.add(loOf(2), hiOf(2), doc)
      if (doc % 1000 === 0) table.add(loOf(3), hiOf(3), doc)
      table.add(loOf(doc + 10), hiOf(doc + 10), doc)
    }
    const { sections, read } = layOut(table, 65_536)
    const lengths = [1, 2, 3].map(term => listOf(commonDocuments(sections, read, loOf(term), hiOf(term))!).length)
    expect(lengths).to.deep.equal([65_536, 32_768, 66])
    expect(table.documents(loOf(1), hiOf(1)).at(-1)).to.equal(65_535)
    expect(listOf(commonDocuments(sections, read, loOf(3), hiOf(3))!).at(-1)).to.equal(65_000)
  })
})

const loOf = (term: number) => Math.imul(term, 0x85ebca6b)
const hiOf = (term: number) => Math.imul(term ^ (term >>> 15), 0x9e3779b1) || 1
