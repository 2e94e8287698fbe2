import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, noise, observation } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findFailures } from './failures.ts'
import { findRates } from './rates.ts'

/** One line of a service in each minute, `count` times, without trace ids. */
function lines(service: string, count: (minute: number) => number, overrides: Partial<Observation> = {}): readonly Observation[] {
  const found: Observation[] = []
  for (let minute = -15; minute < 3; minute++)
    for (let i = 0; i < count(minute); i++)
      found.push(observation({ service, timeMs: AT_MS + (minute + i / count(minute)) * 60_000, pattern: 'tick', ...overrides }))
  return found
}

function ratesOf(...records: readonly (readonly Observation[])[]) {
  const system = finish(observeSystem(records.flat(), AT_MS))
  return new Map([...finish(findRates(system, finish(findFailures(system))))].map(([service, found]) => [system.services[service]!, found]))
}

describe('detector: rates of what has no trace ids', () => {
  it('finds next to nothing where each minute is like the others', () => {
    for (const { score } of ratesOf(
      lines('a', () => 20),
      lines('b', () => 3),
    ).values())
      expect(score).to.be.below(1)
  })

  it('takes less notice of a jump in what jumps all the time', () => {
    const steady = ratesOf(lines('a', minute => (minute < 0 ? 20 : 60))).get('a')!.score
    const jumpy = ratesOf(lines('a', minute => (minute < 0 ? Math.round(60 * noise(minute)) : 60))).get('a')!.score
    expect(steady).to.be.above(3 * jumpy)
  })

  it('leaves errors to those who know where they begin', () => {
    const found = ratesOf(
      lines('a', minute => (minute < 0 ? 19 : 10)),
      lines('a', minute => (minute < 0 ? 1 : 10), { isError: true, pattern: 'failed' }),
    ).get('a')!
    expect(found.hints.map(({ tell }) => tell().patternId)).to.not.include('failed')
  })

  it('thinks little of a service that was never heard before, however much it says', () => {
    const found = ratesOf(
      lines('a', () => 20),
      lines('b', minute => (minute < 0 ? 0 : 500)),
    ).get('b')!
    expect(found.score).to.equal(4)
  })

  it('thinks little of a line that waits for others, however often it comes', () => {
    const found = ratesOf(
      lines('a', () => 20),
      lines('a', minute => (minute < 0 ? 0 : 500), { pattern: 'retrying call to b' }),
    ).get('a')!
    expect(found.score).to.equal(4)
    expect(found.hints[0]!.nature).to.equal('remote')
  })

  it('takes what goes by the clock for no silence, while others have more to do', () => {
    const busy = ['a', 'b', 'c'].map(service => lines(service, minute => (minute < 0 ? 20 : 100)))
    expect(
      ratesOf(
        ...busy,
        lines('clock', () => 15),
      ).has('clock'),
    ).to.equal(false)
    expect(
      ratesOf(
        ...busy,
        lines('clock', minute => (minute < 0 ? 15 : 2)),
      ).get('clock')!.score,
    ).to.be.above(4)
  })

  it('tells of a service that is gone rather than of one of its statements', () => {
    const found = ratesOf(
      lines('a', minute => (minute < 0 ? 20 : 0)),
      lines('a', minute => (minute < 0 ? 10 : 0), { pattern: 'tock' }),
      lines('b', () => 20),
    ).get('a')!
    expect(found.hints.map(({ tell }) => tell().text)).to.deep.equal(['has gone silent: 0 records, 88.6 expected'])
  })

  it('finds silence of a service that has traces, while others are heard', () => {
    const found = ratesOf(
      lines('a', minute => (minute < 0 ? 20 : 0), { traceId: 't' }),
      lines('b', () => 20),
    ).get('a')!
    expect(found.hints[0]!.tell()).to.include({ kind: 'silence', count: 0 })
  })

  it('says nothing by a baseline of less than half a minute', () => {
    const short = lines('a', minute => (minute < -1 ? 0 : 60)).filter(({ timeMs }) => timeMs >= AT_MS - 20_000)
    expect(ratesOf(short).size).to.equal(0)
  })
})
