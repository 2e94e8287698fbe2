import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, traffic, USUAL } from '../../testing/root-cause-fixture.ts'
import { rankFromStarts } from './incident-start.ts'

const withoutStored = USUAL.filter(({ says }) => says !== 'order stored')
const START_LEADS_MS = [10_000, 60_000, 180_000]

/** The first anomaly is at `AT_MS`; the fault began `minutes` before, and the present is `after` minutes later. */
function found(minutes: number, after = 3) {
  const observations = [
    ...traffic({ from: -20, to: -minutes, perMinute: 40, lines: () => USUAL }),
    ...traffic({ from: -minutes, to: after, perMinute: 40, lines: () => withoutStored }),
  ]
  const startsMs = START_LEADS_MS.map(leadMs => AT_MS - leadMs)
  return finish(rankFromStarts({ observations, startsMs, windowMs: 180_000 }))
}

describe('the start of an incident', () => {
  for (const minutes of [0, 0.15, 1, 2, 3])
    it(`is where a fault shows best that began ${minutes} minutes before the first anomaly`, () => {
      const [first] = found(minutes).candidates
      expect(first?.service).to.equal('orders')
      expect(first!.reasons[0]).to.include({ kind: 'missing', patternId: 'order stored' })
    })

  it('needs no more than a few seconds after the first anomaly', () => {
    for (const minutes of [0.1, 1, 2, 3]) expect(found(minutes, 0.1).candidates[0]?.service, `${minutes}`).to.equal('orders')
  })

  it('may be any where nothing happened', () => {
    expect(finish(rankFromStarts({ observations: [], startsMs: [30, 20, 10], windowMs: 5 })).candidates).to.deep.equal([])
  })
})
