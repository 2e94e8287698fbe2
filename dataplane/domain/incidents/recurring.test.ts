import { expect } from 'chai'
import { describe, it } from 'mocha'
import { burstPatterns, isRecurring, MAX_BASELINE_MS, MIN_BASELINE_MS, SLICE_MS } from './recurring.ts'

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

  it('not when it does so little by little', () => {
    const incident = (count: number) => ({
      ...{ firstSeen: new Date(TO_MS).toISOString(), lastSeen: new Date(TO_MS + 120_000).toISOString() },
      evidence: [{ patternId: 'p', pattern: 'p', count, score: 0.3, logIds: [], traceIds: [] }],
    })
    const before = baseline({ p: [10, 10, 10, 10, 10, 10] })
    expect(isRecurring(members(1), before, incident(3))).to.equal(true)
    expect(isRecurring(members(1), before, incident(60))).to.equal(false)
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

  describe('or in regular bursts, as a job of each hour makes them', () => {
    /** Bursts some hours before, each of so many records. */
    const bursts = (hours: readonly number[], count = 4, minutesLate: readonly number[] = []) => {
      const lengthMs = 12 * HOUR_MS
      const starts = hours.map((hour, at) => TO_MS - hour * HOUR_MS + (minutesLate[at] ?? 0) * 60_000)
      const parts = new Array<number>(6).fill(0)
      for (const startMs of starts) parts[Math.min(5, Math.floor(((startMs - (TO_MS - lengthMs)) / lengthMs) * 6))]! += count
      const slices = new Map(starts.map(startMs => [Math.floor(startMs / SLICE_MS) * SLICE_MS, count] as const))
      return { ...baseline({ p: parts }, lengthMs), slices: new Map([['p', slices]]) }
    }
    const HOURLY = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]

    it('each hour, some seconds early or late, left out once', () => {
      expect(isRecurring(members(4), bursts(HOURLY))).to.equal(true)
      expect(isRecurring(members(4), bursts(HOURLY.filter(hour => hour !== 5)))).to.equal(true)
      expect(isRecurring(members(4), bursts([11, 9, 7, 5, 3]))).to.equal(false)
    })

    it('not where slices were not read, which tells from what is to be read', () => {
      const { slices: _s, ...unread } = bursts(HOURLY)
      expect(isRecurring(members(4), unread)).to.equal(false)
      expect(burstPatterns(members(4), unread)).to.deep.equal(['p'])
      expect(burstPatterns([...members(4), ...members(1, 'q')], unread), 'q never came').to.deep.equal([])
      expect(burstPatterns(members(3), baseline({ p: [20, 25, 18, 22, 30, 19] })), 'it came all the time').to.deep.equal([])
    })

    it('not at other times', () => {
      expect(
        isRecurring(
          members(4),
          bursts(
            HOURLY,
            4,
            HOURLY.map((_, at) => (at % 3) * 15),
          ),
        ),
      ).to.equal(false)
      expect(isRecurring(members(4), bursts(HOURLY.map(hour => hour - 0.5)))).to.equal(false)
      expect(
        isRecurring(
          members(4).map(each => ({ ...each, timestamp: new Date(TO_MS + 10 * 60_000).toISOString() })),
          bursts(HOURLY),
        ),
      ).to.equal(false)
    })

    it('not where there is far more of it, or it goes on for longer, all of the incident counted', () => {
      const incident = (count: number, minutes: number) => ({
        ...{ firstSeen: new Date(TO_MS).toISOString(), lastSeen: new Date(TO_MS + minutes * 60_000).toISOString() },
        evidence: [{ patternId: 'p', pattern: 'p', count, score: 0.3, logIds: [], traceIds: [] }],
      })
      expect(isRecurring(members(11), bursts(HOURLY))).to.equal(false)
      expect(isRecurring(members(1), bursts(HOURLY), incident(4, 0))).to.equal(true)
      expect(isRecurring(members(1), bursts(HOURLY), incident(10, 0))).to.equal(false)
      expect(isRecurring(members(1), bursts(HOURLY), incident(4, 6))).to.equal(false)
    })
  })
})
