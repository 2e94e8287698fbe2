import { expect } from 'chai'
import { describe, it } from 'mocha'
import { bucketAt, bucketStarts, sayChart, stack } from './stack.ts'

const SERIES = [
  { name: 'ERROR', color: '--chart-error', values: [1, 0, 2] },
  { name: 'INFO', color: '--chart-info', values: [10, 10, 10] },
]

describe('a chart of stacked bars', () => {
  it('has the first series on top of the others', () => {
    expect(stack(SERIES, 3)).to.deep.equal([
      [11, 10, 12],
      [10, 10, 10],
    ])
    expect(stack([], 2)).to.deep.equal([])
  })

  it('has bars for times without records, too', () => {
    expect(bucketStarts({ fromMs: 1_500, toMs: 4_000 }, 1_000)).to.deep.equal([1_000, 2_000, 3_000])
  })

  it('tells in which bar a time is, to its end', () => {
    const at = (time: number) => bucketAt([10, 15, 20], 5, time)
    expect([9.9, 10, 12.4, 12.6, 14.9, 15, 24.9, 25].map(at)).to.deep.equal([undefined, 0, 0, 0, 0, 1, 2, 2])
    expect(bucketAt([], 5, 10)).to.equal(undefined)
  })

  it('says in words what it shows', () => {
    expect(sayChart(SERIES)).to.equal('ERROR 3, INFO 30')
    expect(sayChart([])).to.equal('nothing')
  })
})
