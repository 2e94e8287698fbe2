import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../../testing/rounds.ts'
import { TermTable } from '../../tail/term-table.ts'
import { lowBits, packList, placeBehind, SPARE_BYTES, unpackList } from './packed-lists.ts'
import { commonDocuments, encodeTerms, listOf, rareCandidates, type TermSections } from './term-index.ts'

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
  const sections: TermSections = {
    ...{ docs: size, isChecked: true },
    rareBits: encoded.rareBits,
    ...{ commonBits: encoded.commonBits, rareStarts, rare, commonStarts, common, apart },
  }
  return { file, sections, read: (length: number, position: number) => file.subarray(position, position + length) }
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
      { numRuns: rounds(60), seed: 6 },
    ))

  it('says of a wrong bit that it is damage, wherever it is: no term has other documents for it', () => {
    const size = 3_000
    const table = new TermTable()
    for (let doc = 0; doc < size; doc++)
      for (const term of [1, 10 + (doc % 2), 20 + (doc % 40), 100 + (doc % 700), 10_000 + doc]) table.add(loOf(term), hiOf(term), doc)
    const { file, sections, read } = layOut(table, size)
    const terms = [
      1,
      10,
      11,
      ...Array.from({ length: 40 }, (_, k) => 20 + k),
      ...Array.from({ length: 70 }, (_, k) => 100 + 10 * k),
      10_007,
      77_777,
    ]
    const answer = (term: number): string => {
      const common = commonDocuments(sections, read, loOf(term), hiOf(term))
      return (common === undefined ? rareCandidates(sections, read, hiOf(term)) : listOf(common)).join()
    }
    const sound = terms.map(answer)
    let told = 0
    for (let k = 0; k < 600; k++) {
      const at = Math.floor((k * file.length) / 600)
      file[at]! ^= 1 << (k % 8)
      for (const [n, term] of terms.entries()) {
        let found: string | undefined
        try {
          found = answer(term)
        } catch {
          told++
          continue
        }
        if (found !== sound[n]) expect.fail(`byte ${at}, term ${term}: ${found} in place of ${sound[n]}`)
      }
      file[at]! ^= 1 << (k % 8)
    }
    expect(told).to.be.above(100)
  }).timeout(30_000)

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

describe('ascending numbers in few bits', () => {
  const lists = fc.uniqueArray(fc.oneof(fc.nat(300), fc.nat(65_535)), { maxLength: 300 }).map(list => list.sort((a, b) => a - b))

  it('come back, whatever their number and the bits that stand as they are', () =>
    fc.assert(
      fc.property(lists, fc.nat(16), fc.nat(7), (list, bits, place) => {
        const out = new Uint8Array(40_000 + SPARE_BYTES).fill(0xff, 1)
        const end = packList(list, list.length, bits, out, place)
        const bytes = out.subarray(0, (end + 7) >>> 3)
        expect([...unpackList(bytes, place, list.length, bits)]).to.deep.equal(list)
        expect(placeBehind).to.equal(list.length === 0 ? placeBehind : end)
      }),
      { seed: 3 },
    ))

  it('take little more than they must', () => {
    for (const count of [2, 3, 10, 100, 5_000]) {
      const list = Array.from({ length: count }, (_, k) => Math.floor(((k + 0.5) * 57_344) / count))
      const bits = packList(list, count, lowBits(57_344, count), new Uint8Array(60_000), 0) / count
      expect(bits).to.be.lessThan(Math.log2(57_344 / count) + 2.2)
    }
  })

  it('are refused where they end too soon', () => {
    expect(() => unpackList(new Uint8Array(4), 0, 1, 3)).to.throw('ends too soon')
  })
})

const loOf = (term: number) => Math.imul(term, 0x85ebca6b)
const hiOf = (term: number) => Math.imul(term ^ (term >>> 15), 0x9e3779b1) || 1
