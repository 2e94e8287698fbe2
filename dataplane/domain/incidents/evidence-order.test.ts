import { expect } from 'chai'
import { describe, it } from 'mocha'
import { inReadingOrder } from './evidence-order.ts'

const evidence = (pattern: string, count: number, score = 0.5) => ({ patternId: pattern, pattern, count, score, logIds: [], traceIds: [] })

describe('the order of evidence', () => {
  it('the most frequent first, of those as frequent the one with the higher score', () => {
    const all = [evidence('rare', 1, 0.9), evidence('often', 9), evidence('once', 1)]
    expect(inReadingOrder(all).map(({ pattern }) => pattern)).to.deep.equal(['often', 'rare', 'once'])
  })

  it('lines of a stack trace last, however many', () => {
    const all = [evidence('\tat java.lang.reflect.Method.invoke(Method.java:<*>)', 60), evidence('no cart', 20)]
    expect(inReadingOrder(all).map(({ pattern }) => pattern)[0]).to.equal('no cart')
  })
})
