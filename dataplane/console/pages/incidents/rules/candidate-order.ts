import type { Candidate } from '../../../../domain/root-cause/root-cause.ts'

/** Whether the strengths of candidates, in their order, never grow: without a word a stranger takes any other order for a fault (Decisions 6). */
export function isByStrength(candidates: readonly Pick<Candidate, 'score'>[]): boolean {
  return candidates.every(({ score }, place) => place === 0 || score <= candidates[place - 1]!.score)
}
