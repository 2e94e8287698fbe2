/** Outages as companies know them, made up from seeds: how often the service at fault is first, and whether the summary says why. */
import { findRootCause } from '../../../dataplane/domain/root-cause/find-root-cause.ts'
import { runInTurns } from '../../../dataplane/limits/run-in-turns.ts'
import { observe } from '../../../dataplane/testing/outages/outage-observations.ts'
import { buildSystem, OUTAGE_AT_MS } from '../../../dataplane/testing/outages/outage-system.ts'
import { OUTAGES } from '../../../dataplane/testing/outages/outages.ts'
import { formatTable } from '../table.ts'

interface Answer {
  /** Infinity: not among the candidates. */
  readonly rank: number
  /** Undefined where no words are expected. */
  readonly says: boolean | undefined
  readonly isLikely: boolean
}

export async function measureOutages(seeds: number): Promise<void> {
  const rows: string[][] = []
  const all: [Answer[], Answer[]] = [[], []]
  for (const [name, { outage, culprits, says }] of Object.entries(OUTAGES)) {
    const row = [name]
    for (const [at, hasTraces] of [true, false].entries()) {
      const answers: Answer[] = []
      for (let seed = 1; seed <= seeds; seed++) {
        const { records, names } = buildSystem(outage, { seed, hasTraces })
        const observations = observe(records, OUTAGE_AT_MS)
        const { summary, candidates } = await runInTurns(findRootCause({ observations, atMs: OUTAGE_AT_MS }))
        const services = culprits.map(role => names.of(role))
        const rank = candidates.findIndex(({ service }) => services.includes(service)) + 1 || Number.POSITIVE_INFINITY
        answers.push({ rank, says: says?.test(summary), isLikely: summary.startsWith('Most likely') })
      }
      if (culprits.length > 0) all[at]!.push(...answers)
      row.push(culprits.length > 0 ? within(answers) : `likely: ${answers.filter(({ isLikely }) => isLikely).length}/${seeds}`)
    }
    rows.push(row)
  }
  rows.push(['all', ...all.map(within)])
  console.log(`\n${formatTable([`${seeds} systems of each outage: A@1, A@3, words`, 'traces', 'no traces'], rows)}`)
}

function within(answers: readonly Answer[]): string {
  const ranked = [1, 3].map(k => `${answers.filter(({ rank }) => rank <= k).length}/${answers.length}`)
  const worded = answers.filter(({ says }) => says !== undefined)
  return [...ranked, worded.length === 0 ? '' : `${worded.filter(({ says }) => says).length}/${worded.length}`].join(', ')
}
