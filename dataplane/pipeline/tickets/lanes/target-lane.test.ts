import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { createTargetLane, type TargetLane } from './target-lane.ts'

const LIMITS = { perSecond: 1, burst: 4, atOnce: 2 }
const DOWN: TicketOutcome = { kind: 'retryable', reason: '503', isTargetDown: true }
const FINE: TicketOutcome = { kind: 'delivered' }
const BROKEN: TicketOutcome = { kind: 'rejected', reason: '401', isTargetBroken: true }

describe('the lane of a target', () => {
  let nowMs: number
  let lane: TargetLane
  beforeEach(() => {
    nowMs = 0
    lane = createTargetLane({ ...LIMITS, burst: 100 }, nowMs, () => 0)
  })
  const attempt = async (outcome: TicketOutcome) => {
    expect(lane.take(nowMs), 'room').to.equal(true)
    return lane.run(
      async () => outcome,
      () => nowMs,
    )
  }

  it('keeps to its rate and to so many at once', () => {
    lane = createTargetLane(LIMITS, 0)
    expect([lane.take(0), lane.take(0), lane.take(0)]).to.deep.equal([true, true, false])
    lane.giveBack()
    expect(lane.room(0)).to.equal(1)
  })

  it('three failures of the target in a row open its breaker; one attempt tries whether it works again', async () => {
    for (let i = 0; i < 3; i++) await attempt(DOWN)
    expect(lane.room(nowMs)).to.equal(0)
    expect(lane.pause(nowMs)).to.include({ untilMs: 5_000, reason: '503' })
    for (const untilMs of [15_000, 25_000, 35_000]) {
      nowMs = lane.pause(nowMs)!.untilMs
      expect(lane.room(nowMs)).to.equal(1)
      await attempt(DOWN)
      expect(lane.pause(nowMs)?.untilMs).to.equal(untilMs)
    }
    nowMs = 35_000
    await attempt(FINE)
    expect(lane.room(nowMs)).to.equal(2)
    expect(lane.isIdle).to.equal(true)
  })

  it('that a target shows nothing of what may be there says neither that it takes tickets nor that it does not', async () => {
    const unseen: TicketOutcome = { kind: 'unseen', reason: 'not there', lookAgainMs: 2_000 }
    for (const outcome of [DOWN, unseen, DOWN, unseen, DOWN]) await attempt(outcome)
    expect(lane.pause(nowMs)).to.include({ untilMs: 5_000 })
    nowMs = 5_000
    for (let looks = 0; looks < 2; looks++) {
      expect(lane.room(nowMs)).to.equal(1)
      await attempt(unseen)
    }
    await attempt(DOWN)
    expect(lane.pause(nowMs)).to.include({ untilMs: 15_000 })
    nowMs = 15_000
    await attempt(unseen)
    expect([lane.room(nowMs), lane.isIdle]).to.deep.equal([1, false])
    await attempt(FINE)
    expect([lane.room(nowMs), lane.isIdle]).to.deep.equal([2, true])
    for (let i = 0; i < 2; i++) await attempt(DOWN)
    expect(lane.pause(nowMs)).to.equal(undefined)
  })

  it('a clock that is set back keeps no target alone', async () => {
    for (let i = 0; i < 3; i++) await attempt(DOWN)
    nowMs = -86_400_000
    expect(lane.room(nowMs)).to.equal(1)
    const { now } = Date
    Date.now = () => now() - 3_600_000
    try {
      expect(await attempt(FINE)).to.deep.equal(FINE)
    } finally {
      Date.now = now
    }
    expect(lane.room(nowMs)).to.equal(2)
  })

  it('attempts that were under way when its breaker opened rest no longer than the one that opened it; what was delivered is no reason', async () => {
    lane = createTargetLane({ perSecond: 1, burst: 100, atOnce: 6 }, nowMs, () => 0)
    const ends: ((outcome: TicketOutcome) => void)[] = []
    const begun = Array.from({ length: 5 }, () => {
      expect(lane.take(nowMs)).to.equal(true)
      return lane.run(
        () => new Promise<TicketOutcome>(resolve => ends.push(resolve)),
        () => nowMs,
      )
    })
    for (const [i, end] of ends.entries()) {
      end(i === 3 ? FINE : DOWN)
      await begun[i]
    }
    expect(lane.pause(nowMs)).to.include({ untilMs: 5_000, reason: '503' })
  })

  it('a platform with too many requests that names no time rests once it says so three times', async () => {
    for (let i = 0; i < 3; i++) await attempt({ kind: 'retryable', reason: '429', isTargetDown: true })
    expect(lane.pause(nowMs)).to.include({ untilMs: 5_000, reason: '429' })
  })

  it('failures of single events do not count', async () => {
    for (let i = 0; i < 10; i++) await attempt(i % 2 === 0 ? { kind: 'rejected', reason: '400' } : { kind: 'retryable', reason: 'x' })
    expect(lane.pause(nowMs)).to.equal(undefined)
  })

  it('one refusal of everything is enough for a minute; a target that is configured anew is tried at once', async () => {
    lane.configured('a')
    await attempt(BROKEN)
    expect(lane.pause(nowMs)).to.include({ untilMs: 60_000, reason: '401' })
    lane.configured('a')
    expect(lane.room(nowMs)).to.equal(0)
    lane.configured('b')
    expect(lane.room(nowMs)).to.equal(1)
    await attempt(FINE)
    expect(lane.room(nowMs)).to.equal(2)
  })

  it('a refusal of the settings for good holds the target until they change, are gone, or somebody asks', async () => {
    const hold = async () => {
      await attempt({ ...BROKEN, untilChanged: true })
      const reason = '401; nothing is sent until its settings change, or somebody asks for it'
      expect(lane.pause(nowMs)).to.include({ untilMs: nowMs + 86_400_000, reason, isOfPlatform: false })
    }
    lane.configured('a')
    await hold()
    nowMs += 3_600_000
    lane.configured('a')
    expect([lane.room(nowMs), lane.isIdle]).to.deep.equal([0, false])
    lane.configured('b')
    expect(lane.room(nowMs)).to.equal(1)
    await hold()
    lane.asked(nowMs)
    expect(lane.room(nowMs)).to.equal(1)
    lane.held('401', nowMs)
    expect(lane.room(nowMs)).to.equal(0)
  })

  it('a change of a ticket that the account has no right to says nothing of other tickets', async () => {
    expect(lane.take(nowMs)).to.equal(true)
    const outcome = await lane.run(
      async () => ({ ...BROKEN, isForbidden: true }),
      () => nowMs,
      false,
    )
    expect(outcome).to.include({ isTargetBroken: true })
    expect(lane.pause(nowMs)).to.equal(undefined)
  })

  it('a person who asks for another try gets one at once, unless the platform asked for time', async () => {
    await attempt(BROKEN)
    nowMs = 5_000
    lane.asked(-1)
    expect(lane.room(nowMs)).to.equal(0)
    lane.asked(5_000)
    expect(lane.room(nowMs)).to.equal(1)
    await attempt(BROKEN)
    lane.asked(4_999)
    expect(lane.pause(nowMs)).to.include({ untilMs: 65_000 })
    nowMs = 65_000
    await attempt({ kind: 'retryable', reason: '429', afterMs: 30_000 })
    lane.asked(65_001)
    expect(lane.pause(nowMs)).to.include({ untilMs: 95_000 })
  })

  it('a platform that asks for time gets it, an hour at most', async () => {
    await attempt({ kind: 'retryable', reason: '429', afterMs: 30_000 })
    expect(lane.pause(nowMs)).to.include({ untilMs: 30_000, reason: '429' })
    nowMs = 30_000
    await attempt({ kind: 'retryable', reason: '429', afterMs: 99_999_999 })
    expect(lane.pause(nowMs)?.untilMs).to.equal(30_000 + 3_600_000)
  })
})
