/** The services that an incident most likely comes from: the detectors' findings made comparable, the strongest first (Decisions 6). */

import { wordsOfPattern } from '../records/pattern-words.ts'
import { lacksWords } from '../records/readable-text.ts'
import { findDelays } from './detectors/delays.ts'
import { type Failures, findFailures, withoutFailed, withoutRecovered } from './detectors/failures.ts'
import { findRates } from './detectors/rates.ts'
import { findEnds } from './detectors/request-ends.ts'
import { findStructure } from './detectors/visit-structure.ts'
import { findVisits } from './detectors/visits-per-request.ts'
import type { CauseEvidence, Findings, Hint, Nature } from './findings.ts'
import { entryOf } from './observed/entry-of.ts'
import { findInstances, type Instances, instanceOf } from './observed/instances.ts'
import type { Observation } from './observed/observation.ts'
import { type Kind, type ObservedPeriod, type ObservedRecord, type ObservedSystem, observeSystem } from './observed/observed-system.ts'
import { isOfSlowStatement } from './order/awaited.ts'
import { coldCacheBefore } from './order/cold-cache.ts'
import { rankSuspects, type ScaledFindings, type Suspect } from './order/suspects.ts'
import { findTies } from './order/ties.ts'
import { findTroubledNode, type TroubledNode } from './order/troubled-node.ts'
import { type CauseRanking, causeOf, JUST_BEFORE, MAX_CANDIDATES } from './ranking.ts'
import { type Change, changesBefore, findChanges, stoppedAround, tellChange } from './recent-changes.ts'
import type { Candidate, Reason, RootCause } from './root-cause.ts'
import { clockTime, listed, rounded } from './wording.ts'

/** Detectors, each with the strength that its strongest finding has in a window without a fault (README: Calibration). */
const DETECTORS = {
  errors: { find: errorsOf, scale: 4.5 },
  structure: { find: findStructure, scale: 4.5 },
  visits: { find: findVisits, scale: 4.5 },
  delays: { find: delaysOf, scale: 11 },
  rates: { find: findRates, scale: 4.5 },
} as const satisfies Record<string, { find(system: ObservedSystem, failures: Failures): Generator<void, Findings>; scale: number }>
export type Detector = keyof typeof DETECTORS
export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly Detector[]

/** Detectors that look at requests: what those show that fail by a logged error counts less. */
const BY_REQUEST: readonly Detector[] = ['structure', 'visits', 'delays']
const IN_FAILED = 0.5

/** Beyond it only the incidents of other services would ask. */
const MAX_RANKED = 100
const MAX_REASONS = 5
/** A service with less differs from the time before by nothing worth a word, unless it is an error. */
const LEAST_SCORE = 0.1
/** Share of the strength of a service's strongest reason. */
const WORTH_TELLING = 0.5
/** The strength from which an error that says why it happened is told beside all other reasons: a service that dies says so a few times at most. */
const SAYS_WHY = 0.25
const MAX_SAMPLES = 5
/** Samples are looked for among so many records. */
const MAX_SAMPLES_SEEN = 50

export interface Question {
  /** Observations in baseline and window, in any order. */
  readonly observations: readonly Observation[]
  /** Where the window begins, ms since the epoch. */
  readonly atMs: number
  /** Candidates are of these alone; empty or absent: all. */
  readonly services?: readonly string[] | undefined
  /** Default: all. */
  readonly detectors?: readonly Detector[]
}

/** Yields every few ms, so that others get their turn between. The answer is the same for any order of the records. */
export function* findRootCause(question: Question): Generator<void, RootCause> {
  return causeOf(yield* rankCauses(question, MAX_CANDIDATES))
}

/** Ranks the services once, for several incidents of one time: `causeOf` makes the cause of each. Describes at most `most` services. Yields as `findRootCause` does. */
export function* rankCauses(question: Question, most = MAX_RANKED): Generator<void, CauseRanking> {
  return yield* rankSystem(yield* observeSystem(question.observations, question.atMs), question, most)
}

/** The same of a system that was put together before. */
export function* rankSystem(
  system: ObservedSystem,
  { services = [], detectors = DETECTOR_NAMES }: Pick<Question, 'services' | 'detectors'> = {},
  most = MAX_RANKED,
): Generator<void, CauseRanking> {
  if (Number.isNaN(system.window.firstMs))
    return {
      candidates: [],
      errors: '',
      hasWindow: false,
      hasBaseline: false,
      hasAsked: false,
      tieOf: () => undefined,
      natureOf: () => undefined,
      onsetOf: () => Number.NaN,
    }
  const hasBaseline = !Number.isNaN(system.baseline.firstMs)
  const failures = yield* findFailures(system)
  // Without a time before nothing but errors can be told.
  const found = yield* runDetectors(system, failures, hasBaseline ? detectors : detectors.filter(name => name === 'errors'))
  const ends = { find: () => findEnds(withoutFailed(system, failures)), scale: DETECTORS.structure.scale }
  const changes = hasBaseline ? yield* findChanges(system) : []
  const ranked = yield* rankSuspects(found, system, failures, { ends, stopped: stoppedAround(changes, system.atMs) })
  const asked = services.length === 0 ? ranked : ranked.filter(({ service }) => services.includes(system.services[service]!))
  const places = { instances: yield* findInstances(system), node: yield* findTroubledNode(system, failures) }
  const waiting = waitingFor(ranked)
  const candidates: Candidate[] = []
  const onsets = new Map<string, number>()
  let cold: Change | undefined
  for (const suspect of asked) {
    if (candidates.length === most) break
    const { candidate, onsetMs } = describe(suspect, system, failures, { ...places, waiting: waiting.get(suspect.service) })
    if (!hasEvidence(candidate)) continue
    onsets.set(candidate.service, onsetMs)
    if (candidates.length === 0) cold = coldCacheBefore(candidate, onsetMs, changes, system.services)
    candidates.push(withChanges(candidate, changesBefore(changes, suspect.service, onsetMs), system))
    yield
  }
  const errors = hasBaseline ? yield* tellErrors(system, services) : ''
  const hasAsked = services.length === 0 || system.window.records.some(({ kind }) => services.includes(system.services[kind.service]!))
  const natureOf = natureByName(ranked, system.services)
  const blames = cold === undefined ? failures.blames : [...failures.blames, [ranked[0]!.service, cold.service] as const]
  return {
    candidates: cold === undefined ? candidates : behindColdCache(candidates, cold, system),
    ...{ errors, hasWindow: true, hasBaseline, hasAsked, natureOf, onsetOf: onsetByName(onsets) },
    tieOf: yield* findTies(system, { blames }),
  }
}

/** A function of its own: made among the records, its closure would hold all of them for as long as the ranking is kept. */
function natureByName(ranked: readonly Suspect[], services: readonly string[]): CauseRanking['natureOf'] {
  const natures = new Map(ranked.map(({ service, nature }) => [services[service]!, nature]))
  return service => natures.get(service)
}

const onsetByName = (onsets: ReadonlyMap<string, number>) => (service: string) => onsets.get(service) ?? Number.NaN

/** Findings of each detector, with their scale. */
function* runDetectors(
  system: ObservedSystem,
  failures: Failures,
  detectors: readonly Detector[],
): Generator<void, readonly ScaledFindings[]> {
  const found: ScaledFindings[] = []
  const unfailed = withoutFailed(system, failures)
  for (const detector of detectors) {
    const { find, scale } = DETECTORS[detector]
    const inAll = yield* find(system, failures)
    if (!BY_REQUEST.includes(detector) || failures.failed.size === 0) found.push({ detector, findings: inAll, scale })
    else {
      found.push({ detector, findings: yield* find(unfailed, failures), scale })
      found.push({ detector, findings: only(inAll, failures.origins), scale })
      found.push({ detector, findings: inAll, scale: scale / IN_FAILED })
    }
  }
  return found
}

// biome-ignore lint/correctness/useYield: as the other detectors
function* errorsOf(_: ObservedSystem, { findings }: Failures): Generator<void, Findings> {
  return findings
}

function* delaysOf(system: ObservedSystem, failures: Failures): Generator<void, Findings> {
  return yield* findDelays(withoutRecovered(system, failures))
}

function only(findings: Findings, services: ReadonlySet<number>): Findings {
  return new Map([...findings].filter(([service]) => services.has(service)))
}

/** The cache before the database that it lets be overrun. */
function behindColdCache(candidates: readonly Candidate[], cold: Change, { services }: ObservedSystem): readonly Candidate[] {
  const name = services[cold.service]!
  const known = candidates.find(({ service }) => service === name)
  const overrun = candidates[0]!
  const { text, ...rest } = toChangeReason(
    cold,
    `${tellChange(cold, services)}, and then ${overrun.service} was overrun: ${overrun.reasons[0]!.text}`,
  )
  const reason = { ...rest, text: text.slice(name.length + 1) }
  const reasons = [reason, ...(known?.reasons ?? []).filter(({ kind }) => kind !== 'change')].slice(0, MAX_REASONS)
  return [{ service: name, score: overrun.score, reasons }, ...candidates.filter(candidate => candidate !== known)]
}

/** The changes behind its other reasons. */
function withChanges(candidate: Candidate, changes: readonly Change[], { services }: ObservedSystem): Candidate {
  const reasons = changes.map(change => toChangeReason(change, `${JUST_BEFORE}${tellChange(change, services)}`))
  return { ...candidate, reasons: [...candidate.reasons, ...reasons] }
}

function toChangeReason({ record: { source } }: Change, text: string): Reason {
  return { kind: 'change', text, logIds: [source.logId], traceIds: source.traceId === '' ? [] : [source.traceId] }
}

/** By the services for which others wait the strongest of those. */
function waitingFor(ranked: readonly Suspect[]): ReadonlyMap<number, Suspect> {
  const waiting = new Map<number, Suspect>()
  for (const suspect of ranked.toSorted((a, b) => a.score - b.score))
    for (const service of suspect.awaited?.keys() ?? []) waiting.set(service, suspect)
  return waiting
}

/** Where failures show: replicas of services, and the node on which several of them fail. */
interface Places {
  readonly instances: Instances
  readonly node: TroubledNode | undefined
}

interface Beside extends Places {
  /** A service that waits for the one that is described. */
  readonly waiting: Suspect | undefined
}

interface Described {
  readonly candidate: Candidate
  /** When the first evidence of it came, ms since the epoch. */
  readonly onsetMs: number
}

function describe({ service, score, hints }: Suspect, system: ObservedSystem, { risen }: Failures, beside: Beside): Described {
  const subjects = new Set<number | string>()
  const isOfErrors = ({ nature, statement }: Hint) => nature === 'change' && statement !== undefined && risen.has(system.kinds[statement]!)
  // Errors tell of themselves, better than that requests come to them.
  const hasOwnWords = isOfErrors(hints[0]!.hint) && hints.some(({ hint }) => hint.isErrors === true)
  // Others complain louder than it.
  const isOfOthers = hints[0]!.hint.isErrors === true && hints[0]!.hint.isOwnWords !== true
  const worthTelling = hints.filter(({ hint, strength }, at) => {
    const isReason =
      (isOfOthers && hint.isOwnWords === true && hint.nature === 'fault') ||
      (hint.isErrors === true && hint.nature === 'cause') ||
      hint.isWarning === true ||
      hint.isStall === true ||
      isOfSlowStatement(hint, system.kinds)
    const saysWhy = isReason && strength >= SAYS_WHY
    const isStrong = saysWhy || strength >= WORTH_TELLING * hints[0]!.strength || (hasOwnWords && hint.isErrors === true)
    if (!isStrong || subjects.has(hint.subject)) return false
    subjects.add(hint.subject)
    return !isOfErrors(hint) || (at === 0 && !hasOwnWords)
  })
  const saysLittle = ({ statement }: Hint) => statement !== undefined && !isOfWords(system.kinds[statement]!)
  const hintsToTell = worthTelling.map(({ hint }) => hint).sort((a, b) => Number(saysLittle(a)) - Number(saysLittle(b)))
  const reasons = tellingFirst(hintsToTell, system).slice(0, MAX_REASONS)
  const told = reasons.map(hint => hint.tell()).filter(isEvidence)
  const candidate = {
    service: system.services[service]!,
    score: Math.round(score * 100) / 100,
    reasons: told.map((evidence, at) =>
      toReason(evidence, at === 0 ? `${tellPlace(evidence, service, system, beside)}${tellWaiting(evidence, system, beside)}` : ''),
    ),
  }
  return { candidate, onsetMs: told[0] === undefined ? Number.NaN : onsetOf(samplesSeen(told[0])) }
}

/** Readers cannot tell one JSON record from another by its keys. */
const isOfWords = ({ pattern, errorTexts }: Kind) => errorTexts.length > 0 || !lacksWords(pattern) || wordsOfPattern(pattern) !== undefined

/** The samples that are looked at. */
function samplesSeen({ samples }: CauseEvidence): readonly ObservedRecord[] {
  const seen: ObservedRecord[] = []
  for (const record of samples()) if (seen.push(record) >= MAX_SAMPLES_SEEN) break
  return seen
}

/** When the first of the samples came, ms since the epoch; infinite without any. */
const onsetOf = (samples: readonly ObservedRecord[]): number => Math.min(...samples.map(({ timeMs }) => timeMs))

/** Errors by how much they tell; of a service that is itself at fault before one that complains. */
const TELLING: readonly Nature[] = ['cause', 'fault', 'remote']

/** Words of a service on its failure, its new warnings among them, else those of others on it, come before what is counted of the failure: readers know that requests break off where an error is written. */
function tellingFirst(hints: readonly Hint[], { kinds }: ObservedSystem): readonly Hint[] {
  const own = hints.filter(({ isOwnWords }) => isOwnWords === true)
  const notice = hints.find(({ isStall }) => isStall === true) ?? hints.find(({ isWarning }) => isWarning === true)
  const first =
    TELLING.map(nature => own.find(hint => hint.nature === nature) ?? (nature === 'fault' ? notice : undefined)).find(
      hint => hint !== undefined,
    ) ??
    // The platform tells why a service that says nothing is gone, and of that it was killed before that it is started again; callers, that it is.
    hints.find(({ isErrors, nature, namesReason }) => isErrors === true && nature === 'cause' && namesReason === true) ??
    hints.find(({ isErrors, nature }) => isErrors === true && nature === 'cause') ??
    hints.find(({ isErrors, nature }) => isErrors === true && nature !== 'remote') ??
    hints.find(hint => isOfSlowStatement(hint, kinds))
  return first === undefined ? hints : [first, ...hints.filter(hint => hint !== first)]
}

/** `0 records, 0 expected` is none, however the numbers were before they were rounded. */
function isEvidence({ count, expected }: CauseEvidence): boolean {
  return count === undefined || count !== expected
}

function hasEvidence({ score, reasons }: Candidate): boolean {
  return reasons.length > 0 && (score >= LEAST_SCORE || reasons.some(({ kind }) => kind === 'errors'))
}

/** Where the evidence of a service shows, as the rest of a sentence; empty where it shows everywhere. */
function tellPlace({ kind, samples }: CauseEvidence, service: number, { services }: ObservedSystem, { instances, node }: Places): string {
  if (node?.services.has(service) === true) {
    const others = [...node.services].filter(other => other !== service).map(other => services[other]!)
    if (node.shows === 'silence') return `, while it and ${listed(others)} are hardly heard from node ${node.name}`
    if (kind === 'errors') return `, all on node ${node.name}, as are those of ${listed(others)}`
  }
  const instance = kind === 'errors' ? instanceOf(samples(), service, instances) : undefined
  return instance === undefined ? '' : `, all in ${instance}, one of ${instances.get(service)!.size}`
}

/** The words of a service that waits, behind what is counted of the one for which it waits; empty where words are told. */
function tellWaiting({ kind }: CauseEvidence, { services }: ObservedSystem, { waiting }: Beside): string {
  const said = kind === 'errors' ? undefined : waiting?.hints.find(({ hint }) => (hint.waits ?? 'nothing') !== 'nothing')
  return said === undefined ? '' : `, while ${services[waiting!.service]!} waits: ${said.hint.tell().text}`
}

function toReason(evidence: CauseEvidence, beside: string): Reason {
  const { kind, text: words, speaker, patternId, count, expected } = evidence
  const text = `${words}${beside}`
  const logIds = new Set<string>()
  const traceIds = new Set<string>()
  const samples = samplesSeen(evidence)
  const onsetMs = onsetOf(samples)
  for (const { source } of samples) {
    if (logIds.size < MAX_SAMPLES) logIds.add(source.logId)
    if (source.traceId !== '' && traceIds.size < MAX_SAMPLES) traceIds.add(source.traceId)
  }
  return {
    kind,
    text: Number.isFinite(onsetMs) ? `${text}; first at ${clockTime(onsetMs)}` : text,
    ...(speaker !== undefined && { service: speaker }),
    ...(patternId !== undefined && { patternId }),
    ...(count !== undefined && { count }),
    ...(expected !== undefined && { expected }),
    logIds: [...logIds],
    traceIds: [...traceIds],
  }
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
