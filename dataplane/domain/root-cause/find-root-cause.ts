/** The services that an incident most likely comes from: the detectors' findings made comparable, the strongest first (Decisions 6). */
import { findCallees } from './callees.ts'
import { findDelays } from './delays.ts'
import { entryOf } from './entry-of.ts'
import type { Evidence, Findings, Hint } from './findings.ts'
import type { Observation } from './observation.ts'
import { type ObservedPeriod, type ObservedSystem, observeSystem } from './observed-system.ts'
import { findRates } from './rates.ts'
import type { Candidate, Reason, RootCause } from './root-cause.ts'
import { findStructure } from './visit-structure.ts'
import { findVisits } from './visits-per-request.ts'
import { rounded } from './wording.ts'

/** Detectors, each with the strength that its strongest finding has in a window without a fault (README: Calibration). */
const DETECTORS = {
  structure: { find: findStructure, scale: 4.5 },
  visits: { find: findVisits, scale: 4.2 },
  delays: { find: findDelays, scale: 11 },
  rates: { find: findRates, scale: 4.5 },
} as const
export type Detector = keyof typeof DETECTORS
export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly Detector[]

/** Of two services this close the one that the other calls comes first. */
const NEAR_TIE = 0.85
const MAX_CANDIDATES = 5
const MAX_REASONS = 5
/** Of the strength of a service's strongest reason. */
const WORTH_TELLING = 0.5
const MAX_SAMPLES = 5
/** Samples are looked for among so many records. */
const MAX_SAMPLES_SEEN = 50

export interface Question {
  /** Of baseline and window, in any order. */
  readonly observations: readonly Observation[]
  /** Where the window begins, ms since the epoch. */
  readonly atMs: number
  /** Candidates are of these alone; empty or absent: all. */
  readonly services?: readonly string[] | undefined
  /** Default: all. */
  readonly detectors?: readonly Detector[]
}

/** Yields every few ms, so that others get their turn between. The answer is the same in whatever order the records come. */
export function* findRootCause(question: Question): Generator<void, RootCause> {
  const { observations, atMs, services = [], detectors = DETECTOR_NAMES } = question
  const system = yield* observeSystem(observations, atMs)
  if (Number.isNaN(system.window.firstMs)) return nothing('No records in the window: there is nothing to compare with the time before.')
  if (Number.isNaN(system.baseline.firstMs)) return nothing('No records before the window: there is nothing to compare it with.')
  const found: Found[] = []
  for (const detector of detectors) found.push({ findings: yield* DETECTORS[detector].find(system), scale: DETECTORS[detector].scale })
  const ranked = rank(found, system)
  const asked = services.length === 0 ? ranked : ranked.filter(({ service }) => services.includes(system.services[service]!))
  const candidates: Candidate[] = []
  for (const suspect of asked.slice(0, MAX_CANDIDATES)) {
    candidates.push(describe(suspect, system))
    yield
  }
  const isClear = candidates.length > 0 && candidates[0]!.score >= 1
  const errors = isClear ? '' : yield* tellErrors(system, services)
  return { mode: 'rules', fallback: false, summary: summarise(candidates, errors), candidates }
}

function nothing(summary: string): RootCause {
  return { mode: 'rules', fallback: false, summary, candidates: [] }
}

interface Found {
  readonly findings: Findings
  readonly scale: number
}

interface Suspect {
  readonly service: number
  readonly score: number
  /** From all detectors, with comparable strengths. */
  readonly hints: { readonly hint: Hint; readonly strength: number }[]
}

function rank(found: readonly Found[], system: ObservedSystem): readonly Suspect[] {
  const suspects = new Map<number, Suspect>()
  for (const { findings, scale } of found)
    for (const [service, { score, hints }] of findings) {
      const known = suspects.get(service)
      suspects.set(service, {
        service,
        score: Math.max(known?.score ?? 0, score / scale),
        hints: [...(known?.hints ?? []), ...hints.map(hint => ({ hint, strength: hint.strength / scale }))],
      })
    }
  const nameOf = ({ service }: Suspect) => system.services[service]!
  const ranked = [...suspects.values()].sort((a, b) => b.score - a.score || (nameOf(a) < nameOf(b) ? -1 : 1))
  const calls = findCallees(system.baseline, system.services.length)
  for (let pass = 0; pass < 2; pass++)
    for (let at = 1; at < ranked.length; at++) {
      const [first, second] = [ranked[at - 1]!, ranked[at]!]
      if (second.score >= first.score * NEAR_TIE && calls(first.service, second.service)) ranked.splice(at - 1, 2, second, first)
    }
  return ranked
}

function describe({ service, score, hints }: Suspect, system: ObservedSystem): Candidate {
  const sorted = hints.toSorted((a, b) => b.strength - a.strength)
  const strongest = sorted.filter(({ strength }) => strength >= WORTH_TELLING * sorted[0]!.strength).slice(0, MAX_REASONS)
  return {
    service: system.services[service]!,
    score: Math.round(score * 100) / 100,
    reasons: strongest.map(({ hint }) => toReason(hint.tell())),
  }
}

function toReason({ kind, text, patternId, count, expected, samples }: Evidence): Reason {
  const logIds = new Set<string>()
  const traceIds = new Set<string>()
  let onsetMs = Number.POSITIVE_INFINITY
  let seen = 0
  for (const { timeMs, source } of samples()) {
    onsetMs = Math.min(onsetMs, timeMs)
    if (logIds.size < MAX_SAMPLES) logIds.add(source.logId)
    if (source.traceId !== '' && traceIds.size < MAX_SAMPLES) traceIds.add(source.traceId)
    if (++seen >= MAX_SAMPLES_SEEN) break
  }
  return {
    kind,
    text: Number.isFinite(onsetMs) ? `${text}; first at ${clockTime(onsetMs)}` : text,
    ...(patternId !== undefined && { patternId }),
    ...(count !== undefined && { count }),
    ...(expected !== undefined && { expected }),
    logIds: [...logIds],
    traceIds: [...traceIds],
  }
}

/** `08:52:06 UTC`. */
function clockTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`
}

function summarise(candidates: readonly Candidate[], errors: string): string {
  const [first, ...others] = candidates
  if (first === undefined)
    return errors === '' ? 'Nothing in the window differs from the time before.' : `The rules name no cause.${errors}`
  const why = `${first.service}: ${first.reasons[0]?.text ?? 'its records differ from the time before'}.`
  const next = others.length === 0 ? '' : ` Next: ${others.map(({ service }) => service).join(', ')}.`
  if (first.score >= 1) return `Most likely ${why}${next}`
  return errors === ''
    ? `Nothing stands out; most unusual is ${why}${next}`
    : `The rules name no clear cause.${errors} Most unusual is ${why}${next}`
}

/**
 * ` Errors in the window: inventory 15 (0 expected), checkout 8 (0.3 expected).`: of services whose share of errors grew, those with most of them first;
 * empty without any. No evidence for a cause: who reads that the rules name none has to know of them all the same.
 */
function* tellErrors({ services: names, baseline, window }: ObservedSystem, asked: readonly string[]): Generator<void, string> {
  const before = yield* countByService(baseline)
  const now = yield* countByService(window)
  const grown: { name: string; errors: number; expected: number }[] = []
  for (const [service, { all, errors }] of now) {
    const name = names[service]!
    const was = before.get(service)
    const expected = was === undefined ? 0 : (was.errors / was.all) * all
    if (errors > expected && (asked.length === 0 || asked.includes(name))) grown.push({ name, errors, expected })
  }
  if (grown.length === 0) return ''
  grown.sort((a, b) => b.errors - a.errors || (a.name < b.name ? -1 : 1))
  const told = grown.slice(0, MAX_CANDIDATES).map(({ name, errors, expected }) => `${name} ${errors} (${rounded(expected)} expected)`)
  return ` Errors in the window: ${told.join(', ')}.`
}

interface Count {
  all: number
  errors: number
}

function* countByService({ requests, untraced }: ObservedPeriod): Generator<void, Map<number, Count>> {
  const counts = new Map<number, Count>()
  let done = 0
  for (const records of [...requests.map(request => request.records), untraced])
    for (const { kind, isError } of records) {
      if (++done % 5_000 === 0) yield
      const count = entryOf(counts, kind.service, () => ({ all: 0, errors: 0 }))
      count.all++
      if (isError) count.errors++
    }
  return counts
}
