import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isRecurring, MAX_BASELINE_MS, MIN_BASELINE_MS } from './recurring.ts'

const TO_MS = Date.UTC(2026, 10, 22, 12)
const HOUR_MS = 3_600_000

const members = (count: number, pattern_id = 'p', signal?: string) =>
  Array.from({ length: count }, (_, n) => ({
    pattern_id,
    timestamp: new Date(TO_MS + n * 1_000).toISOString(),
    ...(signal !== undefined && { signal }),
  }))
const baseline = (counts: Readonly<Record<string, readonly number[]>>, lengthMs = HOUR_MS) => ({
  fromMs: TO_MS - lengthMs,
  toMs: TO_MS,
  counts: new Map(Object.entries(counts)),
})

describe('recurring: what an incident consists of is nothing new for this service', () => {
  it('each of its patterns came at a like rate throughout the baseline', () => {
    expect(isRecurring(members(3), baseline({ p: [20, 25, 18, 22, 30, 19] }))).to.equal(true)
    expect(isRecurring([...members(3), ...members(2, 'q')], baseline({ p: [20, 25, 18, 22, 30, 19], q: [9, 8, 9, 0, 9, 9] }))).to.equal(
      true,
    )
  })

  for (const [name, counts] of [
    ['never came', []],
    ['came in a part of the baseline alone', [0, 0, 0, 0, 90, 90]],
    ['came in one part nearly alone', [1, 1, 1, 1, 1, 200]],
  ] as const)
    it(`not when a pattern ${name}`, () => {
      expect(isRecurring([...members(3, 'q'), ...members(1)], baseline({ p: counts, q: [9, 9, 9, 9, 9, 9] }))).to.equal(false)
    })

  it('not when it comes far more often than before', () => {
    expect(isRecurring(members(30), baseline({ p: [10, 10, 10, 10, 10, 10] }))).to.equal(false)
  })

  it('the baseline is up to 24 h before, and at least 10 minutes of records', () => {
    expect([MAX_BASELINE_MS, MIN_BASELINE_MS]).to.deep.equal([24 * HOUR_MS, HOUR_MS / 6])
  })

  it(`not with less than ${MIN_BASELINE_MS / 60_000} minutes of records`, () => {
    const counts = { p: [9, 9, 9, 9, 9, 9] }
    expect(isRecurring(members(3), baseline(counts, MIN_BASELINE_MS))).to.equal(true)
    expect(isRecurring(members(3), baseline(counts, MIN_BASELINE_MS - 1))).to.equal(false)
  })

  it('not when a signal found a change', () => {
    expect(isRecurring(members(3, 'p', 'delay: slower'), baseline({ p: [20, 25, 18, 22, 30, 19] }))).to.equal(false)
  })
})
