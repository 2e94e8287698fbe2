import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { collectGarbage } from '../../memory/give-back-garbage.ts'
import { AT_MS, finish, observation, traffic, USUAL } from '../../testing/root-cause-fixture.ts'
import { rankFromStarts } from './incident-start.ts'
import { causeOf } from './ranking.ts'

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

  it('leaves in the errors of its own service, where the strongest evidence is of another fault three minutes earlier', () => {
    const others = [
      ...traffic({ from: -20, to: -3, perMinute: 40, lines: () => USUAL }),
      ...traffic({ from: -3, to: -0.5, perMinute: 40, lines: () => withoutStored }),
    ]
    const own = [0, 1, 2].map(ms => observation({ timeMs: AT_MS + ms, service: 'billing', pattern: 'connection refused', isError: true }))
    const startsMs = START_LEADS_MS.map(leadMs => AT_MS - leadMs)
    const ranking = finish(rankFromStarts({ observations: [...others, ...own], startsMs, windowMs: 180_000 }))
    expect(
      causeOf(ranking, ['billing'])
        .candidates.map(({ service }) => service)
        .slice(0, 2),
    ).to.deep.equal(['billing', 'orders'])
  })

  it('may be any where nothing happened', () => {
    expect(finish(rankFromStarts({ observations: [], startsMs: [30, 20, 10], windowMs: 5 })).candidates).to.deep.equal([])
  })

  it('leaves nothing of the records with the ranking, which is kept for the incidents that follow', async () => {
    const startsMs = START_LEADS_MS.map(leadMs => AT_MS - leadMs)
    let records: readonly WeakRef<object>[] = []
    const rank = () => {
      const observations = traffic({ from: -20, to: 3, perMinute: 40, lines: i => (i < 800 ? USUAL : withoutStored) })
      records = observations.map(each => new WeakRef(each))
      return finish(rankFromStarts({ observations, startsMs, windowMs: 180_000 }))
    }
    const ranking = rank()
    await turn()
    for (let times = 0; times < 3; times++) collectGarbage()
    expect(records.filter(record => record.deref() !== undefined)).to.have.length(0)
    expect(ranking.natureOf(ranking.candidates[0]!.service)).to.equal('broken')
  })
})
