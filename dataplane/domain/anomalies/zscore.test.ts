import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { ServiceWindows, SlidingWindow } from './zscore.ts'

/** As the decision words it. */
function naiveZscore(window: readonly number[], score: number): number {
  if (window.length < 10) return 0
  const mean = window.reduce((sum, value) => sum + value, 0) / window.length
  const variance = window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / window.length
  return (score - mean) / Math.max(Math.sqrt(variance), 0.1)
}

const scores = fc.array(
  fc.integer({ min: 0, max: 10_000 }).map(value => value / 10_000),
  { maxLength: 200 },
)
const CONFIG = { anomalyThreshold: 2.5, windowSize: 50 }

describe('Z-score engine: a sliding window of the last windowSize rule scores', () => {
  it('equals z = (x − mean) / max(population std, 0.1) against the window before x is added', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 10, max: 60 }), (values, size) => {
        const window = new SlidingWindow(size)
        values.forEach((value, i) => {
          expect(window.zscore(value)).to.be.closeTo(naiveZscore(values.slice(Math.max(0, i - size), i), value), 1e-4)
          window.add(value)
        })
      }),
      { seed: 4 },
    )
  })

  it('speaks when the window holds at least 10 values', () => {
    const window = new SlidingWindow(50)
    for (let i = 0; i < 9; i++) window.add(0)
    expect(window.zscore(1)).to.equal(0)
    window.add(0)
    expect(window.zscore(1)).to.equal(10)
  })

  it('keeps the newest values when its size changes', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 10, max: 60 }), fc.integer({ min: 10, max: 60 }), (values, before, after) => {
        const window = new SlidingWindow(before)
        for (const value of values) window.add(value)
        window.resize(after)
        expect(window.values()).to.deep.equal(values.slice(-before).slice(-after))
        expect(window.zscore(1)).to.be.closeTo(naiveZscore(window.values(), 1), 1e-4)
      }),
      { seed: 5 },
    )
  })

  describe('per service', () => {
    const still = (windows: ServiceWindows, service: string, count = 10) => {
      for (let i = 0; i < count; i++) windows.observe(service, 0)
    }

    it('z ≥ anomalyThreshold is an anomaly, 0 below the threshold', () => {
      const windows = new ServiceWindows(CONFIG, 10)
      still(windows, 'a/x')
      expect(windows.observe('a/x', 0.2)).to.equal(0)
      const exact = new ServiceWindows(CONFIG, 10)
      still(exact, 'a/x')
      expect(exact.observe('a/x', 0.25)).to.equal(2.5)
    })

    it('keeps a window per tenant and service', () => {
      const windows = new ServiceWindows(CONFIG, 10)
      still(windows, 'a/x')
      expect(windows.observe('b/x', 1)).to.equal(0)
      expect(windows.observe('a/x', 1)).to.equal(10)
    })

    it('a changed threshold takes effect at once', () => {
      const windows = new ServiceWindows(CONFIG, 10)
      still(windows, 'a/x')
      windows.configure({ anomalyThreshold: 20 })
      expect(windows.observe('a/x', 1)).to.equal(0)
    })

    it('a changed windowSize takes effect at once', () => {
      const windows = new ServiceWindows(CONFIG, 10)
      for (let i = 0; i < 40; i++) windows.observe('a/x', 1)
      still(windows, 'a/x')
      windows.configure({ windowSize: 10 })
      expect(windows.observe('a/x', 1)).to.equal(10)
    })

    it('the number of services is bounded: the one longest silent is forgotten', () => {
      const windows = new ServiceWindows(CONFIG, 2)
      still(windows, 'a/x')
      still(windows, 'a/y')
      windows.observe('a/x', 0)
      still(windows, 'a/z')
      expect(windows.observe('a/y', 1)).to.equal(0)
      expect(windows.observe('a/z', 1)).to.equal(10)
    })
  })

  it('takes memory for the values that came, not for those that may', () => {
    const window = new SlidingWindow(100_000)
    expect(window.capacity).to.be.at.most(16)
    for (let i = 0; i < 1_000; i++) window.add(0.1)
    expect(window.capacity).to.be.within(1_000, 2_048)
    expect(window.values()).to.have.length(1_000)
  })

  it('the window longest unused leaves when all of them together hold too many values', () => {
    const windows = new ServiceWindows({ anomalyThreshold: 2.5, windowSize: 100_000 }, 20_000)
    const calm = () => {
      for (let i = 0; i < 20; i++) windows.observe('calm', 0)
    }
    calm()
    expect(windows.observe('calm', 1)).to.be.above(2.5)
    for (let service = 0; service < 170; service++) for (let i = 0; i < 100_000; i++) windows.observe(`s${service}`, 0)
    expect(windows.observe('calm', 1)).to.equal(0)
  })
})
