/** Verdicts on incidents that are alike: a second one within the look-back window costs nothing. */
import { createHash } from 'node:crypto'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { PROMPT_VERSION } from '../../domain/language-model/prompt.ts'
import type { Verdict } from '../../domain/language-model/verdict.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import { isRecent } from '../../limits/is-recent.ts'
import type { LlmConfig } from '../../ports/language-model.ts'

const MAX_VERDICTS = 1_000

export interface VerdictCache {
  get(key: string, withinMs: number, nowMs: number): Verdict | undefined
  put(key: string, verdict: Verdict, nowMs: number): void
}

export function createVerdictCache(): VerdictCache {
  const verdicts = new Map<string, { readonly verdict: Verdict; readonly atMs: number }>()
  return {
    get(key, withinMs, nowMs) {
      const known = verdicts.get(key)
      return known !== undefined && isRecent(known.atMs, withinMs, nowMs) ? known.verdict : undefined
    },
    put(key, verdict, nowMs) {
      verdicts.delete(key)
      verdicts.set(key, { verdict, atMs: nowMs })
      if (verdicts.size > MAX_VERDICTS) verdicts.delete(verdicts.keys().next().value!)
    },
  }
}

/** The same for incidents of one tenant with the same patterns and candidates, and the same of these first. */
export function verdictKey({ tenantId, evidence }: Incident, { candidates }: RootCause, { provider, baseUrl, model }: LlmConfig): string {
  const patterns = evidence.map(({ patternId }) => patternId).sort()
  const [first, ...others] = candidates.map(({ service }) => service)
  const parts = [tenantId, provider, baseUrl ?? '', model, PROMPT_VERSION, patterns, first, others.sort()]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
