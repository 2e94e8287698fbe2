import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { sliceTime } from './time-slices.ts'

const MINUTE_MS = 60_000
const AT_MS = Date.UTC(2026, 0, 1, 12)
const PERIOD = { fromMs: AT_MS - 5 * MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }

const lengthOf = (slices: ReturnType<typeof sliceTime>) => slices.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)

describe('slices of a period', () => {
  it('are the same share of baseline and window, in each ten seconds, the latest first', () => {
    const slices = sliceTime(PERIOD, 0.2)
    const [window, baseline] = [slices.filter(({ fromMs }) => fromMs >= AT_MS), slices.filter(({ fromMs }) => fromMs < AT_MS)]
    expect([window.length, baseline.length]).to.deep.equal([18, 30])
    expect([lengthOf(window), lengthOf(baseline)]).to.deep.equal([36_000, 60_000])
    expect(slices).to.deep.equal(slices.toSorted((a, b) => b.fromMs - a.fromMs))
  })

  it('are long enough to hold whole requests, however busy the tenant is', () => {
    for (const { fromMs, toMs } of sliceTime(PERIOD, 0.005)) expect(toMs - fromMs).to.be.at.least(250)
    expect(sliceTime(PERIOD, 0.005).filter(({ fromMs }) => fromMs >= AT_MS)).to.have.length(3)
  })

  it('are few of a long time, and there of a short one', () => {
    expect(sliceTime({ ...PERIOD, fromMs: AT_MS - 24 * 60 * MINUTE_MS }, 0.2)).to.have.length(32 + 18)
    expect(sliceTime({ ...PERIOD, toMs: AT_MS + 1_500 }, 0.01)[0]!.fromMs).to.be.within(AT_MS, AT_MS + 1_500)
  })

  it('overlap nowhere, end with the period, and none lies on both sides of the window’s start', () => {
    const time = fc.integer({ min: 0, max: 30 * MINUTE_MS })
    fc.assert(
      fc.property(time, time, fc.double({ min: 0.001, max: 0.999, noNaN: true }), (before, after, share) => {
        const slices = sliceTime({ fromMs: AT_MS - before, atMs: AT_MS, toMs: AT_MS + after }, share)
        let end = AT_MS + after
        for (const { fromMs, toMs } of slices) {
          expect(toMs).to.be.within(fromMs, end)
          expect(fromMs >= AT_MS || toMs <= AT_MS).to.equal(true)
          end = fromMs
        }
        expect(end).to.be.at.least(AT_MS - before)
      }),
    )
  })
})
