/**
 * Detector: errors that are new, or come more often, by the service where they begin. The first error of a request counts, the others are its echo. An error
 * that names another service counts for that service. Failed requests say little about which service is silent: see `withoutFailed` (Decisions 6).
 */
import { type ErrorReader, readErrors } from '../errors/error-reader.ts'
import { readErrorWords, tellsKernelKill, tellsLastingState, tellsWorkerKill } from '../errors/read-error-words.ts'
import { type Findings, HintBoard } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { rounded } from '../wording.ts'
import { hintOf, wordsOf } from './error-hint.ts'
import { findEchoes, followNames, type Tally, tallyErrors } from './error-tallies.ts'
import { MinuteSeries } from './minute-series.ts'
import { countShift, type Pair, shareShift } from './statistics.ts'

const MINUTE_MS = 60_000
/** Shift from which an error statement counts as risen. The bound is low, as the effect of the errors counts in the end. */
const RISEN = 2
/** Errors that come in so small a share of what was usual, or less, have stopped. */
const STOPPED = 0.1
/** Errors that are expected of a service that was not heard before. */
const PRIOR_COUNT = 0.5
/** Weight of an error that follows another one, or blames another service, for the service that wrote it. */
const ECHO_WEIGHT = 0.5
/** The words of who calls a service come before those of who calls that one. */
const INDIRECT_WEIGHT = 0.95
/** The least that a lasting state counts which was never told before: one line tells it, and it stands out. */
const LASTING = 2.5

export interface Failures {
  readonly findings: Findings
  /** Error statements that are new, or come more often. */
  readonly risen: ReadonlySet<Kind>
  /** Requests of the baseline that hold an error which stopped. */
  readonly recovered: ReadonlySet<TracedRequest>
  /** Requests of the window that hold an error that is new or risen. */
  readonly failed: ReadonlySet<TracedRequest>
  /** Share of failing visits, or records, of the worst service where errors begin: other services are heard less by that share. */
  readonly worstShare: number
  /** Services where errors begin, or that are named by them. */
  readonly origins: ReadonlySet<number>
  /** Services whose errors only follow those of others, or blame others. */
  readonly echoing: ReadonlySet<number>
  /** Pairs of services: the errors of the first one name the second one, or follow its errors at once. */
  readonly blames: readonly (readonly [number, number])[]
}

interface ErrorSeries {
  readonly series: MinuteSeries
  /** Visits and records without a request that hold such an error. */
  readonly units: Pair
  /** One of them is a visit. */
  isOfRequests: boolean
}

/** How much a service does, in baseline and window: visits, and records without a request. */
interface Units {
  readonly all: Pair
  /** The same, in the window at least as much as it usually does in such a time. */
  readonly usual: Pair
}

/** Errors beside requests, of a job in the background, come no more often for it that the service does less. */
const unitsOf = ({ all, usual }: Units, { units, isOfRequests }: Pick<ErrorSeries, 'units' | 'isOfRequests'>): Readonly<Pair> =>
  units[0] > 0 && !isOfRequests ? usual : all

export function* findFailures(system: ObservedSystem): Generator<void, Failures> {
  const units = yield* countUnits(system)
  const { risen, stopped } = yield* findRisen(system, units)
  const recovered = new Set(system.baseline.requests.filter(request => isRecovered(request, stopped)))
  const board = new HintBoard()
  const failed = new Set<TracedRequest>()
  const origins = new Set<number>()
  if (risen.size === 0)
    return { findings: board.findings(), risen, recovered, failed, worstShare: 0, origins, echoing: new Set(), blames: [] }
  const firstMs = firstTimes(system.window, risen)
  const reader = readErrors(system.services, risen, kind => firstMs.get(kind) ?? Number.POSITIVE_INFINITY)
  const { isRemote } = reader
  const echoes = findUntracedEchoes(system.window, risen)
  const echoed = new Map(echoes)
  const tallies = followNames(yield* tallyErrors(system, { risen, failed, reader, echoed }), echoes)
  let worstShare = 0
  for (const tally of tallies) {
    const { service, speaker, kind, isEcho, units: count, records } = tally
    const of = unitsOf(units[speaker]!, tally)
    const weighed = weigh(tally, of)
    if (weighed.strength <= 0) continue
    if (!isEcho) origins.add(service)
    if (!isEcho && (service !== speaker || !records.every(each => isRemote(each.kind)))) worstShare = Math.max(worstShare, count[1] / of[1])
    // The sum of one statement alone says nothing more than the statement.
    if (kind === undefined && records.every(record => record.kind === records[0]?.kind)) continue
    const expected = of[0] === 0 ? 0 : rounded((count[0] / of[0]) * of[1])
    board.add(hintOf(tally, { ...weighed, expected, services: system.services, reader }))
  }
  const naming = tallies.flatMap(({ service, speaker }) => (service === speaker ? [] : [[speaker, service] as const]))
  return {
    findings: board.findings(),
    risen,
    recovered,
    failed,
    worstShare,
    origins,
    echoing: echoingOf(system.window, risen, tallies, isRemote),
    blames: [...naming, ...echoes],
  }
}

/**
 * Pairs of services without trace ids: the errors of the first one follow those of the second. Not where both stand on one node, and all errors of the first tell
 * a lasting state: the disk of the node is full for both. From another node it passes on the words of its database. That a process of its own was killed follows nothing but the kernel.
 */
function findUntracedEchoes({ untraced }: ObservedPeriod, risen: ReadonlySet<Kind>): ReturnType<typeof findEchoes> {
  const ownKills = new Set([...risen].filter(kind => wordsOf(kind).some(tellsWorkerKill)))
  const errors = untraced.filter(({ isError, kind }) => isError && risen.has(kind) && !ownKills.has(kind))
  // A node that is the only one tells nobody apart.
  if (new Set(untraced.map(({ source }) => source.node)).size < 2) return findEchoes(errors)
  const lasting = new Map([...new Set(errors.map(({ kind }) => kind))].map(kind => [kind, tellsLasting(kind)]))
  const byService = Map.groupBy(errors, ({ kind }) => kind.service)
  const nodeOf = (service: number) => {
    const [node, ...others] = new Set(byService.get(service)!.map(({ source }) => source.node))
    return others.length === 0 ? node : undefined
  }
  const saysItself = (service: number) => byService.get(service)!.every(({ kind }) => lasting.get(kind) === true)
  return findEchoes(errors).filter(([later, earlier]) => {
    const node = nodeOf(later)
    return node === undefined || node !== nodeOf(earlier) || !saysItself(later)
  })
}

interface Weighed {
  /** At most 0: the errors are as usual. */
  readonly strength: number
  /** A new line of the kernel's, by another service, that it killed this one. */
  readonly isKill: boolean
  /** A new line of the service itself tells a state that lasts. */
  readonly isLasting: boolean
}

/** `of`: how much the service that speaks does. */
function weigh({ service, speaker, via, kind, isEcho, units: count }: Tally, of: Readonly<Pair>): Weighed {
  const isNew = !isEcho && count[0] === 0 && kind !== undefined
  const isKill = isNew && service !== speaker && tellsKill(kind)
  const isLasting = isNew && service === speaker && tellsLasting(kind)
  const weight = isEcho ? ECHO_WEIGHT : via === undefined ? 1 : INDIRECT_WEIGHT
  return { strength: Math.max(shiftOf(count, of) * weight, isKill || isLasting ? LASTING : 0), isKill, isLasting }
}

/** Services with new or more errors, none of which begins in the service itself. */
function echoingOf(
  { requests, untraced }: ObservedPeriod,
  risen: ReadonlySet<Kind>,
  tallies: Iterable<Tally>,
  isRemote: ErrorReader['isRemote'],
): ReadonlySet<number> {
  const echoing = new Set<number>()
  const note = ({ isError, kind }: ObservedRecord) => {
    if (isError && risen.has(kind)) echoing.add(kind.service)
  }
  for (const { hasErrors, records } of requests) if (hasErrors) records.forEach(note)
  untraced.forEach(note)
  for (const { service, speaker, isEcho, records } of tallies)
    if (!isEcho && (service !== speaker || records.some(({ kind }) => !isRemote(kind)))) echoing.delete(service)
  return echoing
}

/** Records of requests that did not fail. */
export function withoutFailed(system: ObservedSystem, { failed }: Failures): ObservedSystem {
  if (failed.size === 0) return system
  const requests = system.window.requests.filter(request => !failed.has(request))
  return { ...system, window: { ...system.window, requests } }
}

function isRecovered({ hasErrors, records }: TracedRequest, stopped: ReadonlySet<Kind>): boolean {
  return hasErrors && stopped.size > 0 && records.some(({ isError, kind }) => isError && stopped.has(kind))
}

/** Without the recovered requests: they took other times than all others. */
export function withoutRecovered(system: ObservedSystem, { recovered }: Pick<Failures, 'recovered'>): ObservedSystem {
  if (recovered.size === 0) return system
  const requests = system.baseline.requests.filter(request => !recovered.has(request))
  return { ...system, baseline: { ...system.baseline, requests } }
}

/** Visits, and records without a request, of each service in baseline and window. */
function* countUnits({ services, baseline, window, atMs }: ObservedSystem): Generator<void, readonly Units[]> {
  const units = services.map((): Pair => [0, 0])
  for (const [side, { requests, untraced }] of [baseline, window].entries()) {
    for (const { visits } of requests) for (const { type } of visits) units[type.service]![side as 0 | 1]++
    for (const { kind } of untraced) units[kind.service]![side as 0 | 1]++
    yield
  }
  const usual = (window.lastMs - atMs) / (atMs - baseline.firstMs) || 0
  return units.map(all => ({ all, usual: [all[0], Math.max(all[1], all[0] * usual)] }))
}

function shiftOf(count: Readonly<Pair>, of: Readonly<Pair>): number {
  if (of[0] === 0) return countShift(count[1], PRIOR_COUNT, 1)
  return shareShift([Math.min(count[0], of[0]), Math.min(count[1], of[1])], of)
}

/** Error statements that come more often than before, and those that stopped. */
function* findRisen(
  system: ObservedSystem,
  units: readonly Units[],
): Generator<void, { readonly risen: ReadonlySet<Kind>; readonly stopped: ReadonlySet<Kind> }> {
  const { baseline, window, atMs } = system
  const byKind = new Map<Kind, ErrorSeries>()
  const byService = new Map<number, ErrorSeries>()
  const add = ({ record, isOfRequest }: FirstError, side: 0 | 1) => {
    const minute = Math.floor((atMs - record.timeMs) / MINUTE_MS)
    for (const errors of [entryOf(byKind, record.kind, newErrorSeries), entryOf(byService, record.kind.service, newErrorSeries)]) {
      errors.units[side]++
      errors.isOfRequests ||= isOfRequest
      if (side === 0) errors.series.addBefore(minute)
    }
  }
  for (const [side, period] of [baseline, window].entries()) {
    const errors = [...firstErrors(period)].sort((a, b) => a.record.timeMs - b.record.timeMs)
    for (const error of errors) add(error, side as 0 | 1)
    yield
  }
  const minutes = Number.isNaN(baseline.firstMs) ? 1 : Math.max((atMs - baseline.firstMs) / MINUTE_MS, 1 / 60)
  const strengthOf = (errors: ErrorSeries, service: number) =>
    shiftOf(errors.units, unitsOf(units[service]!, errors)) / Math.sqrt(errors.series.spread(minutes))
  const risen = new Set<Kind>()
  const stopped = new Set<Kind>()
  for (const [kind, errors] of byKind) {
    if (hasStopped(errors.units, unitsOf(units[kind.service]!, errors))) stopped.add(kind)
    const isNewOfMany = errors.units[0] === 0 && strengthOf(byService.get(kind.service)!, kind.service) >= RISEN
    const isNewState = errors.units[0] === 0 && (tellsLasting(kind) || tellsKill(kind))
    if (strengthOf(errors, kind.service) >= RISEN || isNewOfMany || isNewState) risen.add(kind)
  }
  return { risen, stopped }
}

function hasStopped(count: Readonly<Pair>, of: Readonly<Pair>): boolean {
  return shiftOf(count, of) <= -RISEN && count[1] <= STOPPED * count[0] * (of[1] / of[0])
}

function tellsLasting(kind: Kind): boolean {
  return wordsOf(kind).some(text => readErrorWords(text).sense === 'own' && tellsLastingState(text))
}

const tellsKill = (kind: Kind): boolean => wordsOf(kind).some(tellsKernelKill)

/** When each of the kinds came first. */
function firstTimes({ records }: ObservedPeriod, kinds: ReadonlySet<Kind>): ReadonlyMap<Kind, number> {
  const times = new Map<Kind, number>()
  for (const { kind, isError, timeMs } of records)
    if (isError && kinds.has(kind)) times.set(kind, Math.min(times.get(kind) ?? Number.POSITIVE_INFINITY, timeMs))
  return times
}

function newErrorSeries(): ErrorSeries {
  return { series: new MinuteSeries(), units: [0, 0], isOfRequests: false }
}

interface FirstError {
  readonly record: ObservedRecord
  readonly isOfRequest: boolean
}

/** Error records: of a visit the first of each statement. */
function* firstErrors({ requests, untraced }: ObservedPeriod): Generator<FirstError> {
  for (const { visits, hasErrors } of requests) {
    if (!hasErrors) continue
    for (const { records } of visits) {
      const seen = new Set<Kind>()
      for (const record of records) {
        if (!record.isError || seen.has(record.kind)) continue
        seen.add(record.kind)
        yield { record, isOfRequest: true }
      }
    }
  }
  for (const record of untraced) if (record.isError) yield { record, isOfRequest: false }
}
