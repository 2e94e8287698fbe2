import { expect } from 'chai'
import { describe, it } from 'mocha'
import { finish } from '../../testing/root-cause-fixture.ts'
import { buildSynthetic, SYNTHETIC_KINDS, TRACINGS } from '../../testing/synthetic-systems.ts'
import { findRootCause } from './find-root-cause.ts'

const SEEDS = [1, 2, 3, 4, 5]

/** Kinds in which two services look alike where records name no requests, or in which no error says who failed: not always first. */
const HARD: Readonly<Record<string, number>> = {
  'errors in a tenth of visits': 0.8,
  'exception that nobody logs': 0.4,
  'silent, callers do not name it': 0.5,
  'silent, nobody says so': 0.7,
  'heard a fifth as often': 0.4,
}

describe('root cause in systems made up from seeds', () => {
  for (const kind of Object.keys(SYNTHETIC_KINDS))
    it(`${kind}: first${kind in HARD ? ` in ${100 * HARD[kind]!} %` : ''}, and among three`, () => {
      const ranks = TRACINGS.flatMap(tracing =>
        SEEDS.flatMap(seed => {
          const made = buildSynthetic(kind, tracing, seed)
          if (made === undefined) return []
          const { candidates } = finish(findRootCause(made))
          return [candidates.findIndex(({ service }) => service === made.culprit) + 1 || Number.POSITIVE_INFINITY]
        }),
      )
      const within = (k: number) => ranks.filter(rank => rank <= k).length / ranks.length
      expect(within(1), `first: ${ranks}`).to.be.at.least(HARD[kind] ?? 1)
      expect(within(3), `among three: ${ranks}`).to.equal(1)
    }).timeout(20_000)
})
