/** Services ranked by their evidence, and the cause that an incident takes from the ranking (Decisions 6). */
import type { Nature } from './findings.ts'
import type { Candidate, RootCause } from './root-cause.ts'
import { isLikely, standsOut } from './stands-out.ts'

export const MAX_CANDIDATES = 5
/** A service that nothing ties to the incident, and that begins to fail so much later, ms, is no cause of it. Some say why they fail only once others have complained. */
const TOO_LATE_MS = 30_000
/** A service tied to the incident takes the first place from a louder stranger from this score on. */
const CLEAR_TIED = 0.5

export interface CauseRanking {
  /** The most likely first. */
  readonly candidates: readonly Candidate[]
  /** A sentence on services whose errors grew; empty without any. */
  readonly errors: string
  readonly hasWindow: boolean
  readonly hasBaseline: boolean
  /** Whether the window has a record of a service that was asked for. */
  readonly hasAsked: boolean
  /** Services with one number are tied to each other; undefined for a service that was not seen. */
  readonly tieOf: (service: string) => number | undefined
  readonly natureOf: (service: string) => Nature | undefined
  /** When the first evidence of a candidate came, ms since the epoch; not finite where nobody knows. */
  readonly onsetOf: (service: string) => number
}

/** The cause of an incident of these services that began at `beganMs`, ms since the epoch; of the whole time without any. */
export function causeOf(ranking: CauseRanking, services: readonly string[] = [], beganMs = Number.NaN): RootCause {
  if (!ranking.hasWindow) return ofRules('No records in the window: there is nothing to compare with the time before.', [])
  const candidates = withFallingScores(forIncident(ranking, services, beganMs).slice(0, MAX_CANDIDATES))
  if (!ranking.hasAsked && candidates.length === 0) return ofRules('No record of the services that were asked for lies in the window.', [])
  if (!ranking.hasBaseline) return ofRules(summariseAlone(candidates), candidates)
  const [first, ...others] = candidates
  const isClear = first !== undefined && standsOut(first) && isLikely(first, others)
  return ofRules(summarise(candidates, isClear ? '' : ranking.errors), candidates)
}

function ofRules(summary: string, candidates: readonly Candidate[]): RootCause {
  return { mode: 'rules', fallback: false, summary, candidates }
}

/**
 * Services that nothing ties to the incident come last, where a tied one shows errors or stands out: another incident of the same time may be theirs. Where
 * the tied ones only complain of others, one that says why it fails, and comes first of all, stays first. Such services that began to fail long after the
 * incident are left out.
 */
function forIncident(
  { candidates: all, tieOf, natureOf, onsetOf }: CauseRanking,
  services: readonly string[],
  beganMs: number,
): readonly Candidate[] {
  const ties = new Set(services.map(tieOf))
  const isTied = ({ service }: Candidate) => services.includes(service) || ties.has(tieOf(service) ?? Number.NaN)
  // Silence has no record that tells when it began.
  const isTooLate = (onsetMs: number) => Number.isFinite(onsetMs) && onsetMs > beganMs + TOO_LATE_MS
  const candidates = all.filter(one => isTied(one) || !isTooLate(onsetOf(one.service)))
  const tied = candidates.filter(isTied)
  if (!tied.some(({ score, reasons: [first] }) => score >= CLEAR_TIED || first?.kind === 'errors')) return candidates
  const [first] = candidates
  const isMeant = first !== undefined && natureOf(first.service) === 'cause' && natureOf(tied[0]!.service) === 'remote'
  const before = isMeant ? [first] : []
  return [...before, ...tied.filter(one => !before.includes(one)), ...candidates.filter(one => !isTied(one) && !before.includes(one))]
}

/** Readers take the score for the order. The evidence of a candidate may be stronger than that of one before it, which explains it or is nearer to the incident. */
function withFallingScores(candidates: readonly Candidate[]): readonly Candidate[] {
  let least = Number.POSITIVE_INFINITY
  return candidates.map(candidate => {
    least = Math.min(least, candidate.score)
    return candidate.score === least ? candidate : { ...candidate, score: least }
  })
}

/** The summary for a window without a time before. */
function summariseAlone([first, ...others]: readonly Candidate[]): string {
  const nothing = 'No records before the window: there is nothing to compare it with'
  if (first === undefined) return `${nothing}, and it holds no errors.`
  return `${nothing}. Most of its errors begin in ${first.service}: ${first.reasons[0]!.text}.${tellOthers(others)}`
}

/** Begins a reason that tells of a change. */
export const JUST_BEFORE = 'just before: '

/** ` Just before: checkout started at 12:00:01 UTC (“…”).` */
function tellChanges({ reasons }: Candidate): string {
  const changes = reasons
    .filter(({ kind, text }) => kind === 'change' && text.startsWith(JUST_BEFORE))
    .map(({ text }) => text.slice(JUST_BEFORE.length))
  return changes.length === 0 ? '' : ` Just before: ${changes.join('; ')}.`
}

function tellOthers(others: readonly Candidate[]): string {
  return others.length === 0 ? '' : ` Next: ${others.map(({ service }) => service).join(', ')}.`
}

function summarise(candidates: readonly Candidate[], errors: string): string {
  const [first, ...others] = candidates
  if (first === undefined)
    return errors === '' ? 'Nothing in the window differs from the time before.' : `The rules name no cause.${errors}`
  const why = `${first.service}: ${first.reasons[0]?.text ?? 'its records differ from the time before'}.`
  const next = `${tellChanges(first)}${tellOthers(others)}`
  if (standsOut(first))
    return isLikely(first, others) ? `Most likely ${why}${next}` : `Perhaps ${why} Times without a fault may show as much.${errors}${next}`
  return errors === ''
    ? `Nothing stands out; most unusual is ${why}${tellOthers(others)}`
    : `The rules name no clear cause.${errors} Most unusual is ${why}${tellOthers(others)}`
}
