import type { Candidate, Reason, ReasonKind } from './root-cause.ts'

const CLEAR = 1
/** Twice what a window without a fault shows: of fifteen of them one had more (README: Calibration). */
const LIKELY = 2
const CLEAR_ERRORS = 0.5

/** Whether chance alone hardly shows as much as a candidate has; errors that were never there before need less (Decisions 6). */
export function standsOut({ score, reasons }: Pick<Candidate, 'score' | 'reasons'>): boolean {
  return score >= CLEAR || (score >= CLEAR_ERRORS && errorsOf(reasons)?.expected === 0)
}

/** Errors that come first, or behind a new line: the warning of a service is told before the errors of its callers. */
function errorsOf(reasons: Candidate['reasons']): Reason | undefined {
  const [first] = reasons
  if (first?.kind === 'errors') return first
  return first?.kind === 'new' ? reasons.find(({ kind, expected }) => kind === 'errors' && expected === 0) : undefined
}

/** More of what was always there: a job that begins, or users who come, show as much. */
const MERELY_MORE: readonly (ReasonKind | undefined)[] = ['rate', 'calls']

/** Reasons that tell of harm. */
const HARM: readonly ReasonKind[] = ['errors', 'missing', 'silence', 'delay']

type Judged = Pick<Candidate, 'score' | 'reasons'>

/**
 * Whether a candidate that stands out is likely the cause: errors that are new, or more, show no window by chance as changes and delays do. New lines alone are
 * a release, or a guest who looks for doors: some harm has to be seen beside them, in it or in the `others` that stand out.
 */
export function isLikely({ score, reasons }: Judged, others: readonly Judged[] = []): boolean {
  const kind = reasons[0]?.kind
  if (errorsOf(reasons) !== undefined) return true
  if (score < LIKELY || MERELY_MORE.includes(kind)) return false
  return kind !== 'new' || [reasons, ...others.filter(standsOut).map(other => other.reasons)].some(tellsOfHarm)
}

const tellsOfHarm = (reasons: Candidate['reasons']) => reasons.some(({ kind }) => HARM.includes(kind))
