import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DOORS } from './testing/hostile/doors.ts'
import { laySiege } from './testing/hostile/siege.ts'
import { startStandalone } from './testing/standalone-process.ts'

/** `npm run fuzz` sets these. */
const SECONDS = Number(process.env['HOSTILE_SECONDS'] ?? 60)
const SEED = Number(process.env['HOSTILE_SEED'] ?? 1)
/** `HOSTILE_DOORS=otlp,search` attacks these alone. */
const ATTACKED = DOORS.filter(door => process.env['HOSTILE_DOORS']?.split(',').includes(door) ?? true)

/** At each door. */
const REQUESTS_PER_SECOND = Number(process.env['HOSTILE_RATE'] ?? 8)

/** Bounds of what hostile requests may cost everybody else, on machines of half the usual speed too. Of health 99 in 100 answers are held against it: the machine has its own pauses. */
const SEARCHABLE_MS = 10_000
const HEALTH_MS = 500
const MEMORY_BYTES = 1_500_000_000

describe('hostile requests at every door', () => {
  it('cost a bystander nothing: its records are there in time and unchanged, health answers, memory stays bounded, no answer is 500', async function () {
    this.timeout(SECONDS * 1_000 + 180_000)
    const app = await startStandalone()
    try {
      const { answers, offences, bystander, peakBytes, peakParts, losses } = await laySiege({
        app,
        doors: ATTACKED,
        seed: SEED,
        seconds: SECONDS,
        requestsPerSecond: REQUESTS_PER_SECOND,
      })
      const slowestMs = Math.max(...bystander.searchableMs)
      const figures = {
        seed: SEED,
        answers,
        peakMB: Math.round(peakBytes / 1e6),
        peakOwnMB: Math.round(peakParts.own / 1e6),
        peakChildrenMB: Math.round(peakParts.children / 1e6),
        searchableMs: Math.round(slowestMs),
        ownPauseMs: Math.round(bystander.ownPauseMs),
        health: Object.fromEntries(
          Object.entries(bystander.healthMs).map(([role, times]) => [role, `p99 ${at(times, 0.99)}, max ${at(times, 1)}`]),
        ),
      }
      console.log(JSON.stringify(figures))
      expect(offences, 'answers that no input may get').to.deep.equal([])
      expect(losses.slice(0, 20), 'records of the bystander').to.deep.equal([])
      expect(bystander.problems.slice(0, 20), 'problems of the bystander').to.deep.equal([])
      expect(bystander.acknowledged.length).to.be.greaterThan(SECONDS * 20)
      expect(slowestMs, 'ms until a record is searchable').to.be.lessThan(SEARCHABLE_MS)
      for (const [role, times] of Object.entries(bystander.healthMs))
        expect(at(times, 0.99), `ms of ${role}'s health`).to.be.lessThan(HEALTH_MS)
      expect(peakBytes, 'bytes in memory').to.be.lessThan(MEMORY_BYTES)
    } finally {
      await app.remove()
    }
  })
})

/** The time that a share of them do not exceed, whole ms. */
function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0)
}
