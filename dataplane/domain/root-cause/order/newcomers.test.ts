import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { rankFromStarts } from '../incident-start.ts'
import type { Observation } from '../observed/observation.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { causeOf } from '../ranking.ts'
import { findNewcomers } from './newcomers.ts'

const SECOND_MS = 1_000

/** A line each half second, from so many seconds after the start of the window on. */
const fresh = (fromSeconds: number, toSeconds = 20) =>
  Array.from({ length: 2 * (toSeconds - fromSeconds) }, (_, i) => {
    const timeMs = AT_MS + fromSeconds * SECOND_MS + i * 500
    return observation({ timeMs, service: 'recommendations', pattern: 'scored <*> items', logId: `fresh ${i}` })
  })

const newcomersIn = (observations: readonly Observation[]) => {
  const system = finish(observeSystem(observations, AT_MS))
  return [...findNewcomers(system)].map(service => system.services[service])
}

describe('services that are new', () => {
  const usual = traffic({ from: -6, to: 1, perMinute: 40, lines: () => USUAL })

  it('are first heard in the window, or in the last third of the time before', () => {
    for (const from of [1, -1, -110]) expect(newcomersIn([...usual, ...fresh(from)]), `${from} s`).to.deep.equal(['recommendations'])
    for (const from of [-130, -300]) expect(newcomersIn([...usual, ...fresh(from)]), `${from} s`).to.deep.equal([])
  })

  it('are none without a time before', () => expect(newcomersIn(fresh(1))).to.deep.equal([]))

  for (const isTraced of [true, false])
    for (const fromSeconds of [-170, -120, -60, -30, -10])
      it(`are not the cause of errors of another one that begin ${-fromSeconds} s later, with${isTraced ? '' : 'out'} traces`, () => {
        const errors = [0, 1, 2].map(i =>
          observation({
            timeMs: AT_MS + i * 400,
            service: 'payments',
            isError: true,
            pattern: 'connection to <*> refused',
            logId: `error ${i}`,
          }),
        )
        const before = traffic({ from: -4, to: 1 / 3, perMinute: 40, lines: () => USUAL })
        const observations = [
          ...(isTraced ? before : before.map(each => ({ ...each, traceId: '', spanId: '' }))),
          ...errors,
          ...fresh(fromSeconds),
        ]
        const startsMs = [15, 60, 180].map(seconds => AT_MS - seconds * SECOND_MS)
        const ranking = finish(rankFromStarts({ observations, startsMs, windowMs: 180 * SECOND_MS }))
        for (const services of [[], ['payments']]) expect(causeOf(ranking, services).candidates[0]?.service).to.equal('payments')
      })
})
