import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, traffic, USUAL } from '../../testing/root-cause-fixture.ts'
import { findRootCauseFromStarts, INCIDENT_LEADS_MS } from './incident-start.ts'

const withoutStored = USUAL.filter(({ says }) => says !== 'order stored')

/** The first anomaly is at `AT_MS`; the fault began `minutes` before, and the present is `after` minutes later. */
function found(minutes: number, after = 3) {
  const observations = [
    ...traffic({ from: -20, to: -minutes, perMinute: 40, lines: () => USUAL }),
    ...traffic({ from: -minutes, to: after, perMinute: 40, lines: () => withoutStored }),
  ]
  const startsMs = INCIDENT_LEADS_MS.map(leadMs => AT_MS - leadMs)
  return finish(findRootCauseFromStarts({ observations, startsMs, windowMs: 180_000 }))
}

describe('the start of an incident', () => {
  for (const minutes of [0, 0.15, 1, 2, 3])
    it(`is near the start of the fault that began ${minutes} minutes before the first anomaly`, () => {
      const { atMs, rootCause } = found(minutes)
      expect(rootCause.candidates[0]?.service).to.equal('orders')
      expect(rootCause.candidates[0]!.reasons[0]).to.include({ kind: 'missing', patternId: 'order stored' })
      expect((AT_MS - atMs) / 60_000).to.be.closeTo(minutes, 1)
    })

  it('needs no more than a few seconds after the first anomaly', () => {
    for (const minutes of [0.1, 1, 2, 3]) expect(found(minutes, 0.1).rootCause.candidates[0]?.service, `${minutes}`).to.equal('orders')
  })

  it('is the latest one where nothing happened', () => {
    expect(finish(findRootCauseFromStarts({ observations: [], startsMs: [30, 20, 10], windowMs: 5 })).atMs).to.equal(30)
  })
})
