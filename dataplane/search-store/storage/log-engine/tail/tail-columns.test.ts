import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { KeywordTail, NumberTail } from './tail-columns.ts'

/** The value of each document, a number or none, and after how many documents a query looks at the column. */
const stepsOf = (value: fc.Arbitrary<number | undefined>) =>
  fc.array(fc.record({ value, isLookedAt: fc.boolean() }), { minLength: 1, maxLength: 900 })
const IN_SOME = stepsOf(fc.option(fc.nat(600), { nil: undefined }))
/** Columns of which each document has a value take another way. */
const STEPS = fc.oneof(IN_SOME, stepsOf(fc.nat(600)))
/** Near each other, far from each other, and no whole ones. */
const TIME_MS = 1_795_000_000_000
const NUMBERS = [
  fc.nat(600),
  fc.integer(),
  fc.integer({ min: TIME_MS, max: TIME_MS + 60_000 }),
  fc.constantFrom(0, -0, 0.5, 1e18, 2 ** 31, -(2 ** 31), 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN),
  fc.double(),
]
const NUMBER_STEPS = fc.oneof(...NUMBERS.flatMap(each => [stepsOf(each), stepsOf(fc.option(each, { nil: undefined }))]))

describe('columns of a tail', () => {
  it('give numbers of the documents so far, at each look, and never change for one who has looked', () =>
    fc.assert(
      fc.property(NUMBER_STEPS, steps => {
        const column = new NumberTail()
        const seen: [size: number, values: Float64Array][] = []
        for (const [doc, { value, isLookedAt }] of steps.entries()) {
          if (value !== undefined) column.append(doc, value)
          if (!isLookedAt) continue
          const found = column.column(doc + 1)
          if (found?.kind === 'number') seen.push([doc + 1, found.values])
        }
        // Deep equality tells −0 from 0.
        for (const [size, values] of seen) expect([...values]).to.deep.equal(steps.slice(0, size).map(({ value }) => value ?? Number.NaN))
        const stored = steps.flatMap(({ value }, doc) => (value === undefined ? [] : [[doc, value]]))
        expect(Array.from(column.values, (value, k) => [column.docs.of(k), value])).to.deep.equal(stored)
      }),
    ))

  it('give codes and their values likewise, beyond 256 values too', () =>
    fc.assert(
      fc.property(STEPS, steps => {
        const column = new KeywordTail()
        const seen: [size: number, texts: (string | undefined)[]][] = []
        const views: ReturnType<KeywordTail['column']>[] = []
        for (const [doc, { value, isLookedAt }] of steps.entries()) {
          if (value !== undefined) {
            const bytes = Buffer.from(`v${value}`)
            column.append(doc, column.code(value, value + 1, bytes, 0, bytes.length))
          }
          if (!isLookedAt) continue
          views.push(column.column(doc + 1))
          seen.push([doc + 1, steps.slice(0, doc + 1).map(each => (each.value === undefined ? '' : `v${each.value}`))])
        }
        for (const [at, [size, texts]] of seen.entries()) {
          const view = views[at]
          if (view?.kind !== 'keyword') throw new Error('no column')
          expect(view.codes.length).to.equal(size)
          expect(Array.from(view.codes, code => view.dictionary[code])).to.deep.equal(texts)
        }
      }),
    ))

  it('tell the documents that have a value', () =>
    fc.assert(
      fc.property(STEPS, fc.nat(600), fc.nat(900), (steps, wanted, size) => {
        const column = new KeywordTail()
        for (const [doc, { value }] of steps.entries()) {
          if (value === undefined) continue
          const bytes = Buffer.from(`v${value}`)
          column.append(doc, column.code(value, value + 1, bytes, 0, bytes.length))
        }
        const expected = steps.flatMap(({ value }, doc) => (value === wanted && doc < size ? [doc] : []))
        expect([...column.documents(wanted, wanted + 1, size)]).to.deep.equal(expected)
      }),
    ))

  it('take five bytes a document for a code and a number that each document has, nine with documents that lack them', () => {
    const bytesOf = (step: number) => {
      const columns = [new NumberTail(), new KeywordTail()]
      for (let doc = 0; doc < 32_768 * step; doc += step) for (const column of columns) column.append(doc, 7)
      return columns.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    }
    expect(bytesOf(1) / 32_768).to.be.within(5, 5.1)
    expect(bytesOf(2) / 32_768).to.be.within(9, 9.1)
  })

  it('give the memory of arrays that they outgrow back at once, and all but what queries have at their end', () => {
    const buffers: ArrayBufferLike[] = []
    const noteBuffers = (...arrays: readonly Uint8Array[]) => buffers.push(...arrays.map(({ buffer }) => buffer))
    const column = new KeywordTail()
    const fill = (from: number, to: number) => {
      for (let doc = from; doc < to; doc++) column.append(doc, 0)
    }
    fill(0, 32_768)
    noteBuffers(column.codes as Uint8Array)
    fill(32_768, 65_536)
    expect(buffers.map(({ byteLength }) => byteLength)).to.deep.equal([0])
    const seen = column.column(65_536) as { readonly codes: Uint8Array }
    column.release()
    expect(seen.codes.length).to.equal(65_536)

    const numbers = new NumberTail()
    for (let doc = 0; doc < 16_384; doc++) numbers.append(doc, doc)
    const { values } = numbers.column(16_384) as { readonly values: Float64Array }
    const before = numbers.sizeBytes
    numbers.release()
    expect(before - numbers.sizeBytes).to.equal(4 * 16_384)
    expect([...values.subarray(16_380)]).to.deep.equal([16_380, 16_381, 16_382, 16_383])
  })
})
