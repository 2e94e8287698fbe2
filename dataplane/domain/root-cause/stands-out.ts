import type { Candidate } from './root-cause.ts'

const CLEAR = 1
const CLEAR_ERRORS = 0.5

/** Whether chance alone hardly shows as much as a candidate has; errors that were never there before need less (Decisions 6). */
export function standsOut({ score, reasons: [first] }: Pick<Candidate, 'score' | 'reasons'>): boolean {
  return score >= CLEAR || (score >= CLEAR_ERRORS && first?.kind === 'errors' && first.expected === 0)
}
