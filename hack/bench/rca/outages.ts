/** Outages as companies know them, made up from seeds: how often the service at fault is first, and whether the summary says why. */
import { type Judged, judgeOutage } from '../../../dataplane/testing/outages/judge-outage.ts'
import { OUTAGES } from '../../../dataplane/testing/outages/outages.ts'
import { formatTable } from '../table.ts'

export async function measureOutages(seeds: number): Promise<void> {
  const rows: string[][] = []
  const all: [Judged[], Judged[]] = [[], []]
  for (const [name, { culprits }] of Object.entries(OUTAGES)) {
    const row = [name]
    for (const [at, hasTraces] of [true, false].entries()) {
      const answers: Judged[] = []
      for (let seed = 1; seed <= seeds; seed++) answers.push(await judgeOutage(name, { seed, hasTraces }))
      if (culprits.length > 0) all[at]!.push(...answers)
      row.push(culprits.length > 0 ? within(answers) : `likely: ${answers.filter(({ isLikely }) => isLikely).length}/${seeds}`)
    }
    rows.push(row)
  }
  rows.push(['all', ...all.map(within)])
  console.log(`\n${formatTable([`${seeds} systems of each outage: A@1, A@3, words`, 'traces', 'no traces'], rows)}`)
}

function within(answers: readonly Judged[]): string {
  const ranked = [1, 3].map(k => `${answers.filter(({ rank }) => rank <= k).length}/${answers.length}`)
  const worded = answers.filter(({ says }) => says !== undefined)
  return [...ranked, worded.length === 0 ? '' : `${worded.filter(({ says }) => says).length}/${worded.length}`].join(', ')
}
