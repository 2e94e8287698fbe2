/** Records of baseline and window put together to requests and visits: what the detectors look at (Decisions 6). */
import { isStackFrame } from '../../records/stack-frame.ts'
import type { Called } from './called-service.ts'
import { entryOf } from './entry-of.ts'
import type { Observation } from './observation.ts'

/** A log statement of a service. */
export interface Kind {
  /** Position in `ObservedSystem.kinds`. */
  readonly id: number
  readonly service: number
  readonly pattern: string
  readonly patternId: string
  /** All of its records are errors. */
  isError: boolean
  /** All of its records are warnings. */
  isWarning: boolean
  /** All of its records are of level DEBUG or TRACE. */
  isDebug: boolean
  /** Words of its errors that were read: a few, all different. */
  readonly errorTexts: string[]
  /** Other sides of calls, one for each of its errors that was read and names one. */
  readonly called: Called[]
  /** Queues and topics that its errors which were read are about. */
  readonly queues: Set<string>
}

export interface ObservedRecord {
  readonly timeMs: number
  readonly kind: Kind
  readonly isError: boolean
  readonly source: Observation
}

/** The records of one service in one span of one trace, in the order of time; in the trace as a whole where spans are not named. */
export interface Visit {
  /** The first statement: visits of one type do the same. */
  readonly type: Kind
  readonly records: ObservedRecord[]
}

/** The records of one trace in the order of time, with its visits by their first record. */
export interface TracedRequest {
  readonly records: ObservedRecord[]
  readonly visits: Visit[]
  hasErrors: boolean
}

export interface ObservedPeriod {
  /** All, in the order of time. */
  readonly records: readonly ObservedRecord[]
  readonly requests: readonly TracedRequest[]
  /** Records without a trace id, and those that are alone with theirs, in the order of time. */
  readonly untraced: readonly ObservedRecord[]
  /** Times of the first and last record, ms; NaN without any. */
  readonly firstMs: number
  readonly lastMs: number
}

export interface ObservedSystem {
  readonly services: readonly string[]
  readonly kinds: readonly Kind[]
  /** Records before `atMs`. */
  readonly baseline: ObservedPeriod
  readonly window: ObservedPeriod
  /** Start of the window. */
  readonly atMs: number
}

/** Work between two `yield`s, in records. */
const STRETCH = 2_000
/** Records are put into the order of time by so much time at once, ms. */
const SLICE_MS = 10_000
/** Visits that are found by looking at each; further ones have an index. */
const MAX_SCANNED = 8
/** Words that are kept of one statement. */
const MAX_ERROR_TEXTS = 4
/** Other sides of calls that are kept of one statement. */
const MAX_CALLED = 9

/** Records in the order of time, with their statements: what systems that are split at different times have in common. */
export interface OrderedRecords {
  readonly services: readonly string[]
  readonly kinds: readonly Kind[]
  readonly records: readonly ObservedRecord[]
  /** Records by trace id. */
  readonly sizes: ReadonlyMap<string, number>
}

/** Begins no template. */
const WARNS = '\u0000'

/** The order of `observations` does not matter; lines of a stack trace behind its first are left out. Yields every few ms, so that others get their turn. */
export function* orderRecords(observations: readonly Observation[]): Generator<void, OrderedRecords> {
  const sorted = yield* sortByTime(observations)
  const services = new Numbered<string>()
  const kinds: Kind[] = []
  /** By service and template, warnings apart: loggers of logfmt write all lines in one form, whose words are masked. */
  const kindsOf: Map<string, Kind>[] = []
  const records: ObservedRecord[] = []
  for (const source of sorted) {
    const service = services.of(source.service)
    kindsOf[service] ??= new Map()
    const statement = source.isWarning === true ? `${WARNS}${source.template}` : source.template
    let kind = kindsOf[service].get(statement)
    if (kind === undefined) {
      kind = {
        id: kinds.length,
        service,
        pattern: source.pattern,
        patternId: source.patternId,
        isError: true,
        isWarning: true,
        isDebug: true,
        errorTexts: [],
        called: [],
        queues: new Set(),
      }
      kinds.push(kind)
      kindsOf[service].set(statement, kind)
    }
    kind.isError &&= source.isError
    kind.isWarning &&= source.isWarning === true
    kind.isDebug &&= source.isDebug === true
    const { errorText, called, queue } = source
    if (queue !== undefined) kind.queues.add(queue)
    if (called !== undefined && kind.called.length < MAX_CALLED) kind.called.push(called)
    if (errorText !== undefined && kind.errorTexts.length < MAX_ERROR_TEXTS && !kind.errorTexts.includes(errorText))
      kind.errorTexts.push(errorText)
    records.push({ timeMs: source.timeMs, kind, isError: source.isError, source })
    if (records.length % STRETCH === 0) yield
  }
  return { services: services.values, kinds, records, sizes: yield* countByTrace(records) }
}

/** Slice by slice: all at once they would hold the thread for long. */
function* sortByTime(observations: readonly Observation[]): Generator<void, readonly Observation[]> {
  const slices = new Map<number, Observation[]>()
  for (const [at, observation] of observations.entries()) {
    if (at % STRETCH === 0) yield
    const { timeMs, pattern } = observation
    if (Number.isFinite(timeMs) && !isStackFrame(pattern)) entryOf(slices, Math.floor(timeMs / SLICE_MS), () => []).push(observation)
  }
  const sorted: Observation[] = []
  for (const slice of [...slices.keys()].sort((a, b) => a - b)) {
    for (const observation of slices.get(slice)!.sort(byTime)) sorted.push(observation)
    yield
  }
  return sorted
}

function* countByTrace(records: readonly ObservedRecord[]): Generator<void, ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  let done = 0
  for (const { source } of records) {
    if (++done % STRETCH === 0) yield
    if (source.traceId !== '') sizes.set(source.traceId, (sizes.get(source.traceId) ?? 0) + 1)
  }
  return sizes
}

/** The records before `toMs` alone: as if no others had been there. */
export function* recordsBefore(ordered: OrderedRecords, toMs: number): Generator<void, OrderedRecords> {
  const end = ordered.records.findIndex(({ timeMs }) => timeMs >= toMs)
  if (end < 0) return ordered
  const records = ordered.records.slice(0, end)
  // Statements and services are numbered as they come.
  let kinds = 0
  let services = 0
  for (const { kind } of records) {
    kinds = Math.max(kinds, kind.id + 1)
    services = Math.max(services, kind.service + 1)
  }
  yield
  return {
    services: ordered.services.slice(0, services),
    kinds: ordered.kinds.slice(0, kinds),
    records,
    sizes: yield* countByTrace(records),
  }
}

/**
 * The order of `observations` does not matter. Yields every few ms, so that others get their turn. A record is of the window from `atMs` on; a
 * trace that lies on both sides is a request in both.
 */
export function* observeSystem(observations: readonly Observation[], atMs: number): Generator<void, ObservedSystem> {
  return yield* splitAt(yield* orderRecords(observations), atMs)
}

/** The same of records that are in order. */
export function* splitAt({ services, kinds, records, sizes }: OrderedRecords, atMs: number): Generator<void, ObservedSystem> {
  const split = records.findIndex(({ timeMs }) => timeMs >= atMs)
  const isAlone = (traceId: string) => traceId === '' || sizes.get(traceId) === 1
  const [before, after] = split < 0 ? [records, []] : [records.slice(0, split), records.slice(split)]
  const switched = kinds.some(({ isDebug }) => isDebug) ? switchedKinds(before, after) : new Set<Kind>()
  yield
  const isKept = ({ kind }: ObservedRecord) => !switched.has(kind)
  const of = (records: readonly ObservedRecord[]) => (switched.size === 0 ? records : records.filter(isKept))
  const baseline = yield* observePeriod(of(before), isAlone)
  const window = yield* observePeriod(of(after), isAlone)
  return { services, kinds, baseline, window, atMs }
}

/**
 * Debug statements that come on one side alone, of services whose other statements come on both: somebody switched debug logs on or off, and the services
 * do what they did.
 */
function switchedKinds(before: readonly ObservedRecord[], after: readonly ObservedRecord[]): ReadonlySet<Kind> {
  const sides = [before, after].map(records => new Set(records.map(({ kind }) => kind)))
  const lasting = sides.map(kinds => new Set([...kinds].filter(({ isDebug }) => !isDebug).map(({ service }) => service)))
  const isSwitched = (kind: Kind) =>
    kind.isDebug && !sides.every(kinds => kinds.has(kind)) && lasting.every(services => services.has(kind.service))
  return new Set(sides.flatMap(kinds => [...kinds].filter(isSwitched)))
}

function* observePeriod(records: readonly ObservedRecord[], isAlone: (traceId: string) => boolean): Generator<void, ObservedPeriod> {
  const requests = new Map<string, OpenRequest>()
  const untraced: ObservedRecord[] = []
  let done = 0
  for (const record of records) {
    if (++done % STRETCH === 0) yield
    const { traceId, spanId } = record.source
    if (isAlone(traceId)) {
      untraced.push(record)
      continue
    }
    const { request, spans } = entryOf(requests, traceId, openRequest)
    request.records.push(record)
    request.hasErrors ||= record.isError
    const visits = entryOf(spans, spanId, () => new SpanVisits())
    let visit = visits.of(record.kind.service)
    if (visit === undefined) {
      visit = { type: record.kind, records: [] }
      visits.add(visit)
      request.visits.push(visit)
    }
    visit.records.push(record)
  }
  const firstMs = records[0]?.timeMs ?? Number.NaN
  return {
    records,
    requests: Array.from(requests.values(), ({ request }) => request),
    untraced,
    firstMs,
    lastMs: records.at(-1)?.timeMs ?? Number.NaN,
  }
}

interface OpenRequest {
  readonly request: TracedRequest
  /** By span id. */
  readonly spans: Map<string, SpanVisits>
}

/** Visits of one span, by service: mostly one; without span ids those of a whole trace. */
class SpanVisits {
  readonly #few: Visit[] = []
  #byService: Map<number, Visit> | undefined

  of(service: number): Visit | undefined {
    return this.#byService?.get(service) ?? this.#few.find(({ type }) => type.service === service)
  }

  add(visit: Visit): void {
    if (this.#few.length < MAX_SCANNED) {
      this.#few.push(visit)
      return
    }
    this.#byService ??= new Map()
    this.#byService.set(visit.type.service, visit)
  }
}

const openRequest = (): OpenRequest => ({ request: { records: [], visits: [], hasErrors: false }, spans: new Map() })

/** Equal times are told apart by what the records are, so that their order is the same however they come. */
function byTime(a: Observation, b: Observation): number {
  return (
    a.timeMs - b.timeMs ||
    compare(a.service, b.service) ||
    compare(a.template, b.template) ||
    compare(a.spanId, b.spanId) ||
    compare(a.logId, b.logId) ||
    compare(a.traceId, b.traceId) ||
    compare(a.pattern, b.pattern)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

class Numbered<T> {
  readonly values: T[] = []
  readonly #numbers = new Map<T, number>()

  of(value: T): number {
    let number = this.#numbers.get(value)
    if (number === undefined) {
      number = this.values.push(value) - 1
      this.#numbers.set(value, number)
    }
    return number
  }
}
