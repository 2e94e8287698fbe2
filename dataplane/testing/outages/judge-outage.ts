/** The answer of the rules to one outage, beside the known truth. */
import { findRootCause } from '../../domain/root-cause/find-root-cause.ts'
import { runInTurns } from '../../limits/run-in-turns.ts'
import { observe } from './outage-observations.ts'
import type { KnownOutage } from './outage-parts.ts'
import { buildSystem, OUTAGE_AT_MS } from './outage-system.ts'

export interface Judged {
  /** Place of a service at fault, from 1 on; Infinity: not among the candidates, or none is at fault. */
  readonly rank: number
  /** Whether the summary has the expected words; undefined where none are. */
  readonly says: boolean | undefined
  /** Whether the summary is sure. */
  readonly isLikely: boolean
  readonly summary: string
}

export async function judgeOutage(
  { outage, culprits, says }: KnownOutage,
  { seed, hasTraces }: { readonly seed: number; readonly hasTraces: boolean },
): Promise<Judged> {
  const { records, names } = buildSystem(outage, { seed, hasTraces })
  const observations = observe(records, OUTAGE_AT_MS)
  const { summary, candidates } = await runInTurns(findRootCause({ observations, atMs: OUTAGE_AT_MS }))
  const services = culprits.map(role => names.of(role))
  const rank = candidates.findIndex(({ service }) => services.includes(service)) + 1 || Number.POSITIVE_INFINITY
  return { rank, says: says?.test(summary), isLikely: summary.startsWith('Most likely'), summary }
}
