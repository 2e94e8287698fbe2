import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { KeywordTail, NumberTail } from './tail-columns.ts'

/** The value of each document, a number or none, and after how many documents a query looks at the column. */
const STEPS = fc.array(fc.record({ value: fc.option(fc.nat(600), { nil: undefined }), isLookedAt: fc.boolean() }), {
  minLength: 1,
  maxLength: 900,
})

describe('columns of a tail', () => {
  it('give numbers of the documents so far, at each look, and never change for one who has looked', () =>
    fc.assert(
      fc.property(STEPS, steps => {
        const column = new NumberTail()
        const seen: [size: number, values: Float64Array][] = []
        for (const [doc, { value, isLookedAt }] of steps.entries()) {
          if (value !== undefined) column.append(doc, value)
          if (!isLookedAt) continue
          const found = column.column(doc + 1)
          if (found?.kind === 'number') seen.push([doc + 1, found.values])
        }
        for (const [size, values] of seen) expect([...values]).to.deep.equal(steps.slice(0, size).map(({ value }) => value ?? Number.NaN))
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

  it('give the memory of arrays that they outgrow back at once, and all but what queries have at their end', () => {
    const column = new NumberTail()
    for (let doc = 0; doc < 16_384; doc++) column.append(doc, doc)
    const { docs, values } = column
    const seen = column.column(16_384) as { readonly values: Float64Array }
    expect(values.length).to.equal(16_384)
    column.append(16_384, 1)
    expect([docs.length, values.length]).to.deep.equal([0, 0])
    column.release()
    expect([column.docs.length, column.values.length]).to.deep.equal([0, 0])
    expect([...seen.values.subarray(16_380)]).to.deep.equal([16_380, 16_381, 16_382, 16_383])
  })
})
