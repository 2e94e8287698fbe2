/** Outages as companies know them, made up from seeds: how often the service at fault is first, and whether the summary says why. */

import { FURTHER_OUTAGES } from '../../../dataplane/testing/outages/further-outages.ts'
import { type Judged, judgeOutage } from '../../../dataplane/testing/outages/judge-outage.ts'
import type { KnownOutage } from '../../../dataplane/testing/outages/outage-parts.ts'
import { OUTAGES } from '../../../dataplane/testing/outages/outages.ts'
import { POST_MORTEM_OUTAGES } from '../../../dataplane/testing/outages/post-mortem-outages.ts'
import { RESOURCE_OUTAGES } from '../../../dataplane/testing/outages/resource-outages.ts'
import { formatTable } from '../table.ts'

/** `first`: the lowest seed. */
export async function measureOutages(seeds: number, first = 1): Promise<void> {
  await measure('outage', OUTAGES, { seeds, first })
  await measure('further outage', FURTHER_OUTAGES, { seeds, first })
  await measure('outage of a post-mortem', POST_MORTEM_OUTAGES, { seeds, first })
  await measure('outage by a limit', RESOURCE_OUTAGES, { seeds, first })
}

async function measure(
  what: string,
  outages: Readonly<Record<string, KnownOutage>>,
  { seeds, first }: { readonly seeds: number; readonly first: number },
): Promise<void> {
  const rows: string[][] = []
  const all: [Judged[], Judged[]] = [[], []]
  for (const [name, known] of Object.entries(outages)) {
    const { culprits } = known
    const row = [name]
    for (const [at, hasTraces] of [true, false].entries()) {
      const answers: Judged[] = []
      for (let seed = first; seed < first + seeds; seed++) answers.push(await judgeOutage(known, { seed, hasTraces }))
      if (culprits.length > 0) all[at]!.push(...answers)
      row.push(culprits.length > 0 ? within(answers) : `likely: ${answers.filter(({ isLikely }) => isLikely).length}/${seeds}`)
    }
    rows.push(row)
  }
  rows.push(['all', ...all.map(within)])
  console.log(`\n${formatTable([`${seeds} systems of each ${what}: A@1, A@3, words`, 'traces', 'no traces'], rows)}`)
}

function within(answers: readonly Judged[]): string {
  const ranked = [1, 3].map(k => `${answers.filter(({ rank }) => rank <= k).length}/${answers.length}`)
  const worded = answers.filter(({ says }) => says !== undefined)
  return [...ranked, worded.length === 0 ? '' : `${worded.filter(({ says }) => says).length}/${worded.length}`].join(', ')
}
