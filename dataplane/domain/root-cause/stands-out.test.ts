import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Reason } from './root-cause.ts'
import { isLikely, standsOut } from './stands-out.ts'

const reason = (kind: Reason['kind'], expected?: number): Reason => ({
  kind,
  text: '',
  ...(expected !== undefined && { expected }),
  logIds: [],
  traceIds: [],
})
const stands = (score: number, kind: Reason['kind'], expected?: number) => standsOut({ score, reasons: [reason(kind, expected)] })

describe('a candidate stands out', () => {
  it('from a score of 1 on', () => {
    expect([stands(1, 'silence', 9), stands(0.99, 'silence', 9), standsOut({ score: 1, reasons: [] })]).to.deep.equal([true, false, true])
  })

  it('from a score of 0.5 on by errors that were never there before', () => {
    expect([stands(0.5, 'errors', 0), stands(0.49, 'errors', 0)]).to.deep.equal([true, false])
    const warned = (...reasons: Reason[]) => standsOut({ score: 0.5, reasons: [reason('new', 0), ...reasons] })
    expect([warned(reason('rate', 3), reason('errors', 0)), warned(reason('errors', 1)), warned()]).to.deep.equal([true, false, false])
    expect([stands(0.99, 'errors', 1), stands(0.99, 'new', 0), stands(0.99, 'errors')]).to.deep.equal([false, false, false])
  })
})

describe('a candidate that stands out is likely', () => {
  it('from a score of 2 on, or by errors', () => {
    const likely = (score: number, kind: Reason['kind']) => isLikely({ score, reasons: [reason(kind)] })
    expect(isLikely({ score: 1, reasons: [reason('new', 0), reason('errors', 0)] })).to.equal(true)
    expect(isLikely({ score: 1, reasons: [reason('missing', 9), reason('errors', 0)] })).to.equal(false)
    expect([likely(2, 'missing'), likely(1.99, 'missing'), likely(1, 'errors')]).to.deep.equal([true, false, true])
  })

  it('unless it merely does more of what it did', () => {
    const harm = [{ score: 1, reasons: [reason('silence')] }]
    for (const kind of ['rate', 'calls'] as const) expect(isLikely({ score: 9, reasons: [reason(kind)] }, harm), kind).to.equal(false)
  })

  it('unless it merely says what it never said, and no harm is seen in it, or in others that stand out', () => {
    const speaker = { score: 9, reasons: [reason('new'), reason('rate')] }
    expect(isLikely(speaker, [{ score: 1, reasons: [reason('new')] }])).to.equal(false)
    expect(isLikely(speaker, [{ score: 0.9, reasons: [reason('missing')] }])).to.equal(false)
    expect(isLikely(speaker, [{ score: 1, reasons: [reason('missing')] }])).to.equal(true)
    expect(isLikely({ score: 9, reasons: [reason('new'), reason('delay')] })).to.equal(true)
  })
})
