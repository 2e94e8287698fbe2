import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, observation, traffic } from '../../../testing/root-cause-fixture.ts'
import { findRootCause } from '../find-root-cause.ts'
import type { Observation } from '../observed/observation.ts'

const WARNING = 'session refused: it expired'
const USUAL: readonly Line[] = [
  { service: 'gateway', says: 'order received', afterMs: 0 },
  { service: 'orders', says: 'order checked', afterMs: 8 },
  { service: 'members', says: 'profile asked for', afterMs: 9 },
  { service: 'orders', says: 'order stored', afterMs: 6 },
  { service: 'gateway', says: 'order answered', afterMs: 7 },
]
/** `members` answers 401, and `orders` does not say who did. */
const REFUSED: readonly Line[] = [
  ...USUAL.slice(0, 3),
  { service: 'members', says: WARNING, afterMs: 2 },
  { service: 'orders', says: 'order failed: AxiosError: Request failed with status code 401', afterMs: 5, isError: true },
  { service: 'gateway', says: 'orders answered 500', afterMs: 5, isError: true },
]

const warning = (each: Observation) => (each.pattern === WARNING ? { ...each, isWarning: true } : each)
const system = (refused: readonly Line[], before: readonly Line[] = USUAL) =>
  [
    ...traffic({ from: -15, to: 0, perMinute: 20, lines: () => before }),
    ...traffic({ from: 0, to: 2, perMinute: 20, lines: () => refused }),
  ].map(warning)
const untraced = (records: readonly Observation[]) => records.map(each => ({ ...each, traceId: '', spanId: '' }))
const summaryOf = (observations: readonly Observation[]) => finish(findRootCause({ observations, atMs: AT_MS })).summary

describe('who answered an error that tells a status and names nobody', () => {
  for (const [name, of] of [
    ['with trace ids', (records: readonly Observation[]) => records],
    ['without trace ids', untraced],
  ] as const) {
    it(`is the service that warns as it never did, ${name}`, () => {
      expect(summaryOf(of(system(REFUSED)))).to.match(/^Most likely members: “session refused: it expired”/)
    })

    it(`is nobody where the warning came before as well, ${name}`, () => {
      const often = [...USUAL.slice(0, 3), { service: 'members', says: WARNING, afterMs: 2 }, ...USUAL.slice(3)]
      expect(summaryOf(of(system(REFUSED, often)))).to.match(/^Most likely orders: /)
    })

    it(`nor where two warn, ${name}`, () => {
      const two = [...REFUSED.slice(0, 3), { service: 'stock', says: WARNING, afterMs: 1 }, ...REFUSED.slice(3)]
      expect(summaryOf(of(system(two)))).not.to.match(/orders blames/)
    })
  }

  it('nor, without trace ids, one that warns far more often, or at other times', () => {
    const silent = untraced(system(REFUSED.toSpliced(3, 1)))
    const warns = (count: number, shiftMs = 0) =>
      Array.from({ length: count }, (_, n) =>
        observation({
          service: 'members',
          pattern: WARNING,
          isWarning: true,
          timeMs: AT_MS + shiftMs + (n * 120_000) / count,
          logId: `w${n}`,
        }),
      )
    expect(summaryOf([...silent, ...warns(40)])).to.match(/^Most likely members: /)
    expect(summaryOf([...silent, ...warns(400)])).not.to.match(/orders blames/)
    expect(summaryOf([...silent, ...warns(40).filter(({ timeMs }) => timeMs > AT_MS + 60_000)])).to.match(/^Most likely orders: /)
  })
})
