/**
 * Detector: errors that are new, or come more often, by the service where they begin. The first error of a request counts, the others are its echo. An error
 * that names another service counts for that service. Failed requests say little about which service is silent: see `withoutFailed` (Decisions 6).
 */
import { findAnswerers } from '../errors/answerers.ts'
import { type ErrorReader, readErrors } from '../errors/error-reader.ts'
import { namesReason, readErrorWords, tellsKernelKill, tellsLastingState, tellsOomKill, tellsRestarts } from '../errors/read-error-words.ts'
import { type Findings, type Hint, HintBoard, type Nature } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { quoted, rounded, timesOf } from '../wording.ts'
import { MinuteSeries } from './minute-series.ts'
import { countShift, median, type Pair, shareShift } from './statistics.ts'

const MINUTE_MS = 60_000
/** Shift from which an error statement counts as risen. The bound is low, as the effect of the errors counts in the end. */
const RISEN = 2
/** Errors that come in so small a share of what was usual, or less, have stopped. */
const STOPPED = 0.1
/** Errors that are expected of a service that was not heard before. */
const PRIOR_COUNT = 0.5
/** Without trace ids: a service's errors are an echo when this share of them comes so shortly after those of another service, ms. */
const ECHO_MS = 2_000
const ECHO_SHARE = 0.8
/** How many times longer the original takes to follow the echo, or itself, than the echo to follow the original. */
const ECHO_CLOSER = 3
const MAX_SERVICES_ECHOING = 50
const NEVER_MS = 1e12
/** Weight of an error that follows another one, or blames another service, for the service that wrote it. */
const ECHO_WEIGHT = 0.5
/** The words of who calls a service come before those of who calls that one. */
const INDIRECT_WEIGHT = 0.95
/** The least that a lasting state counts which was never told before: one line tells it, and it stands out. */
const LASTING = 2.5
/** Longest chain of services in which each one names the next. */
const MAX_STEPS = 5

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
  const echoes = findEchoes(system.window.untraced.filter(({ isError, kind }) => isError && risen.has(kind)))
  const echoed = new Set(echoes.map(([later]) => later))
  const tallies = followed(yield* attribute(system, { risen, failed, reader, echoed }), echoes)
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

interface Weighed {
  /** At most 0: the errors are as usual. */
  readonly strength: number
  /** A new line of the kernel's, by another service, that it killed this one. */
  readonly isKill: boolean
}

/** `of`: how much the service that speaks does. */
function weigh({ service, speaker, via, kind, isEcho, units: count }: Tally, of: Readonly<Pair>): Weighed {
  const isNew = !isEcho && count[0] === 0 && kind !== undefined
  const isKill = isNew && service !== speaker && tellsKill(kind)
  const isLasting = isKill || (isNew && service === speaker && tellsLasting(kind))
  const weight = isEcho ? ECHO_WEIGHT : via === undefined ? 1 : INDIRECT_WEIGHT
  return { strength: Math.max(shiftOf(count, of) * weight, isLasting ? LASTING : 0), isKill }
}

interface HintContext extends Weighed {
  /** Errors that would have come as usual. */
  readonly expected: number
  readonly services: readonly string[]
  readonly reader: ErrorReader
}

function hintOf(tally: Tally, { strength, isKill, expected, services, reader }: HintContext): Hint {
  const { service, speaker, kind, isEcho, units: count, records } = tally
  const isOwn = service === speaker
  const other = isOwn ? undefined : services[speaker]!
  const text = () => {
    const told = kind ?? mostTelling(records, reader)
    return tellErrors({
      speaker: other,
      via: tally.via === undefined ? undefined : services[tally.via]!,
      isEcho,
      isOfSeveral: kind === undefined,
      says: reader.textOf(told),
      unresolvedName: reader.unresolvedNameOf(told),
      queues: told.queues,
      count,
      expected,
    })
  }
  return {
    service,
    strength,
    subject: `${speaker} ${kind?.id ?? 'all'} ${isEcho}`,
    isErrors: true,
    isKill,
    isOwnWords: isOwn && !isEcho,
    namesReason: records.some(each => wordsOf(each.kind).some(namesReason)),
    ...waitsOf(isOwn ? records : [], reader),
    nature: natureOf(tally, reader),
    tell: () => ({
      kind: 'errors',
      strength,
      text: text(),
      ...(other !== undefined && { speaker: other }),
      ...(kind !== undefined && { patternId: kind.patternId }),
      count: count[1],
      expected,
      samples: () => records,
    }),
  }
}

function natureOf({ service, speaker, isEcho, records }: Tally, { isRemote, senseOf }: ErrorReader): Nature {
  const isOwn = service === speaker
  if (isEcho || (isOwn && records.some(({ kind }) => isRemote(kind)))) return 'remote'
  return records.some(({ kind }) => senseOf(kind) === 'own' || (!isOwn && wordsOf(kind).some(tellsOomKill))) ? 'cause' : 'fault'
}

/** The thing that a service waited for by all of its own errors that tell anything. */
function waitsOf(records: readonly ObservedRecord[], { waits }: ErrorReader): Pick<Hint, 'waits'> {
  const told = new Set(records.map(({ kind }) => waits(kind)))
  const waiting = (['nothing', 'answer', 'connection'] as const).find(each => told.has(each))
  return waiting === undefined ? {} : { waits: waiting }
}

interface Told {
  /** The service that wrote the errors, where that is another one. */
  readonly speaker: string | undefined
  /** The service that they name, where its errors lead to this one. */
  readonly via: string | undefined
  readonly isEcho: boolean
  /** Errors of all kinds. */
  readonly isOfSeveral: boolean
  /** The statement that is quoted; where there are several, the one that tells most. */
  readonly says: string
  /** The name that could not be resolved. */
  readonly unresolvedName: string | undefined
  readonly queues: ReadonlySet<string>
  readonly count: Readonly<Pair>
  readonly expected: number
}

function tellErrors({ speaker, via, isEcho, isOfSeveral, says, unresolvedName, queues, count, expected }: Told): string {
  const often = `${timesOf(count[1])}, ${count[0] === 0 ? 'never before' : `${expected} expected`}`
  const [queue, ...otherQueues] = queues
  const words = queue === undefined || otherQueues.length > 0 ? quoted(says) : `${quoted(says)} on ${queue}`
  const what = isOfSeveral ? `errors of several kinds, ${words} among them,` : words
  if (unresolvedName !== undefined)
    return `${speaker === undefined ? '' : `${speaker} `}cannot resolve the name ${unresolvedName}: ${what}${isOfSeveral ? ' ' : ': '}${often}`
  if (isEcho)
    return `${what} ${isOfSeveral ? 'follow errors elsewhere, or blame' : 'follows errors elsewhere, or blames'} another service: ${often}`
  if (speaker !== undefined && via !== undefined) return `${speaker} blames ${via}, whose errors lead here: ${what} ${often}`
  if (speaker !== undefined)
    return `${speaker} ${tellsOomKill(says) || tellsRestarts(says) ? 'tells of it' : 'blames it'}: ${what} ${often}`
  if (isOfSeveral) return `${what} ${often}`
  return `${what} is ${count[0] === 0 ? 'a new error' : 'an error that comes more often'}: ${often}`
}

/** The statement of an error that names a reason of its own, else one that is passed on, else that of most of them; of as many the one that came first. */
function mostTelling(records: readonly ObservedRecord[], { senseOf }: Pick<ErrorReader, 'senseOf'>): Kind {
  const counts = new Map<Kind, number>()
  for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const kinds = [...counts].sort(([, a], [, b]) => b - a).map(([kind]) => kind)
  const own = kinds.filter(kind => senseOf(kind) === 'own')
  const tellsWhy = (kind: Kind) => wordsOf(kind).some(namesReason)
  return own.find(tellsWhy) ?? kinds.find(tellsWhy) ?? own[0] ?? kinds[0]!
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

const wordsOf = ({ pattern, errorTexts }: Kind): readonly string[] => (errorTexts.length === 0 ? [pattern] : errorTexts)

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

/** Errors that begin in `service` and that `speaker` wrote: the service itself, or another one that names the service. */
interface Tally {
  readonly service: number
  readonly speaker: number
  /** The service that the error names, where its own errors lead to `service`. */
  readonly via?: number
  /** The error only follows another one, or blames another service. */
  readonly isEcho: boolean
  /** Undefined: of all statements. */
  readonly kind: Kind | undefined
  readonly units: Pair
  /** One of them is a visit. */
  isOfRequests: boolean
  /** Records in the window, without those of the baseline. */
  readonly records: ObservedRecord[]
}

interface Attribution {
  readonly risen: ReadonlySet<Kind>
  /** Takes in the requests that fail. */
  readonly failed: Set<TracedRequest>
  readonly reader: ErrorReader
  /** Services whose errors without a request follow those of another one. */
  readonly echoed: ReadonlySet<number>
}

function* attribute(system: ObservedSystem, { risen, failed, reader, echoed }: Attribution): Generator<void, readonly Tally[]> {
  const { named, isRemote } = reader
  const isRisen = ({ isError, kind }: ObservedRecord) => isError && risen.has(kind)
  const answerers = findAnswerers(system, record => isRisen(record) && reader.isAnswered(record.kind))
  const tallies = new Map<string, Tally>()
  const note = (service: number, record: ObservedRecord, side: 0 | 1, { isEcho = false, isOfRequest = false } = {}) => {
    const { kind } = record
    for (const statement of [kind, undefined]) {
      const key = `${service} ${kind.service} ${statement?.id ?? 'all'} ${isEcho}`
      const tally = entryOf(
        tallies,
        key,
        (): Tally => ({ service, speaker: kind.service, isEcho, kind: statement, units: [0, 0], isOfRequests: false, records: [] }),
      )
      tally.units[side]++
      tally.isOfRequests ||= isOfRequest
      if (side === 1) tally.records.push(record)
    }
  }
  for (const [side, { requests, untraced }] of [system.baseline, system.window].entries()) {
    for (const request of requests) {
      const first = request.hasErrors ? reader.beginningOf(request.records.filter(isRisen)) : undefined
      if (first === undefined) continue
      const service = named(first.kind) ?? answerers.within(request, first)
      if (side === 1 && (service !== undefined || reader.senseOf(first.kind) !== 'callee')) failed.add(request)
      note(service ?? first.kind.service, first, side as 0 | 1, { isOfRequest: true })
      const told = new Set(service === undefined ? [first.kind.service] : [])
      for (const record of request.records) {
        if (!isRisen(record) || told.has(record.kind.service)) continue
        told.add(record.kind.service)
        note(record.kind.service, record, side as 0 | 1, { isEcho: true, isOfRequest: true })
      }
    }
    yield
    for (const record of untraced) {
      if (!isRisen(record)) continue
      const service = named(record.kind) ?? (reader.isAnswered(record.kind) ? answerers.beside(record.kind.service) : undefined)
      // A service that is alone has nobody to blame.
      const isEcho = service !== undefined || (system.services.length > 1 && isRemote(record.kind)) || echoed.has(record.kind.service)
      if (service !== undefined) note(service, record, side as 0 | 1)
      note(record.kind.service, record, side as 0 | 1, { isEcho })
    }
    yield
  }
  return [...tallies.values()]
}

/** Errors that name a second service which mostly names a third, or whose errors follow those of a third, are evidence for the third, and little for the second. */
function followed(all: readonly Tally[], echoes: readonly (readonly [number, number])[]): readonly Tally[] {
  const mostly = new Map<number, Tally>()
  for (const tally of all) {
    const known = mostly.get(tally.speaker)
    if (!tally.isEcho && tally.kind === undefined && (known === undefined || known.units[1] < tally.units[1]))
      mostly.set(tally.speaker, tally)
  }
  const follows = new Map(echoes)
  const endOf = (service: number, speaker: number) => {
    const seen = new Set([service, speaker])
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = mostly.get(service)?.service ?? follows.get(service)
      if (next === undefined || seen.has(next)) break
      seen.add(next)
      service = next
    }
    return service
  }
  return all.map(tally => (tally.service === tally.speaker ? tally : leadTo(tally, endOf(tally.service, tally.speaker))))
}

const leadTo = (tally: Tally, service: number): Tally => (service === tally.service ? tally : { ...tally, service, via: tally.service })

/** Pairs of services: the errors of the first one, all without a request, follow those of the second one at once. `errors` in the order of time. */
function findEchoes(errors: readonly ObservedRecord[]): readonly (readonly [number, number])[] {
  const times = new Map<number, number[]>()
  for (const { kind, timeMs } of errors) entryOf(times, kind.service, () => []).push(timeMs)
  const echoes: (readonly [number, number])[] = []
  const services = [...times.keys()].slice(0, MAX_SERVICES_ECHOING)
  for (const later of services)
    for (const earlier of services) {
      if (later === earlier) continue
      const after = lags(times.get(earlier)!, times.get(later)!)
      const near = after.filter(lag => lag <= ECHO_MS)
      if (near.length < ECHO_SHARE * after.length) continue
      const back = lags(times.get(later)!, times.get(earlier)!)
      const closest = Math.min(median(back), meanGap(times.get(earlier)!))
      if (median(after) * ECHO_CLOSER < closest) echoes.push([later, earlier])
    }
  return echoes
}

/** Between two of `times`, ascending; `NEVER_MS` of a single one. Where errors come all the time, others follow them by chance alone. */
function meanGap(times: readonly number[]): number {
  return times.length < 2 ? NEVER_MS : (times.at(-1)! - times[0]!) / (times.length - 1)
}

/** How long after the latest of `before` each of `times` comes; `NEVER_MS` where none is before. Equal times have no order. Both ascending, not empty. */
function lags(before: readonly number[], times: readonly number[]): readonly number[] {
  let at = 0
  return times.map(time => {
    while (at < before.length && before[at]! < time) at++
    return at === 0 ? NEVER_MS : time - before[at - 1]!
  })
}
