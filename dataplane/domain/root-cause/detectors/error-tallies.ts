/** Counts errors by the service where they begin: the one that wrote them, the one that they name, or the one whose errors they follow. */
import { findAnswerers } from '../errors/answerers.ts'
import type { ErrorReader } from '../errors/error-reader.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { median, type Pair } from './statistics.ts'

/** Without trace ids: a service's errors are an echo when this share of them comes so shortly after those of another service, ms. */
const ECHO_MS = 2_000
const ECHO_SHARE = 0.8
/** A single error comes shortly after another one by chance. */
const MIN_ECHOES = 2
/** How many times longer the original takes to follow the echo, or itself, than the echo to follow the original. */
const ECHO_CLOSER = 3
const MAX_SERVICES_ECHOING = 50
const NEVER_MS = 1e12
/** Longest chain of services in which each one names the next. */
const MAX_STEPS = 5

/** Errors that begin in `service` and that `speaker` wrote: the service itself, or another one that names the service. */
export interface Tally {
  readonly service: number
  readonly speaker: number
  /** The service that the error names, where its own errors lead to `service`. */
  readonly via?: number
  /** The error only follows another one, or blames another service. */
  readonly isEcho: boolean
  /** Services that an echo blames; none of other errors. */
  readonly blamed: Set<number>
  /** Services whose errors an echo follows; none of other errors. */
  readonly followed: Set<number>
  /** Undefined: of all statements. */
  readonly kind: Kind | undefined
  readonly units: Pair
  /** One of them is a visit. */
  isOfRequests: boolean
  /** Records in the window, without those of the baseline. */
  readonly records: ObservedRecord[]
}

interface TallyContext {
  readonly risen: ReadonlySet<Kind>
  /** Takes in the requests that fail. */
  readonly failed: Set<TracedRequest>
  readonly reader: ErrorReader
  /** By services whose errors without a request follow those of another one: that one. */
  readonly echoed: ReadonlyMap<number, number>
}

interface Noted {
  readonly isEcho?: boolean
  readonly isOfRequest?: boolean
  readonly blames?: number | undefined
  readonly follows?: number | undefined
}

export function* tallyErrors(system: ObservedSystem, { risen, failed, reader, echoed }: TallyContext): Generator<void, readonly Tally[]> {
  const { named, isRemote } = reader
  const isRisen = ({ isError, kind }: ObservedRecord) => isError && risen.has(kind)
  const answerers = findAnswerers(system, record => isRisen(record) && reader.isAnswered(record.kind))
  const tallies = new Map<string, Tally>()
  const note = (
    service: number,
    record: ObservedRecord,
    side: 0 | 1,
    { isEcho = false, isOfRequest = false, blames, follows }: Noted = {},
  ) => {
    const { kind } = record
    for (const statement of [kind, undefined]) {
      const key = `${service} ${kind.service} ${statement?.id ?? 'all'} ${isEcho}`
      const tally = entryOf(
        tallies,
        key,
        (): Tally => ({
          service,
          speaker: kind.service,
          isEcho,
          blamed: new Set(),
          followed: new Set(),
          kind: statement,
          units: [0, 0],
          isOfRequests: false,
          records: [],
        }),
      )
      if (blames !== undefined) tally.blamed.add(blames)
      if (follows !== undefined) tally.followed.add(follows)
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
        const blames = record === first ? service : named(record.kind)
        const follows = blames === undefined && record.kind.service !== first.kind.service ? first.kind.service : undefined
        note(record.kind.service, record, side as 0 | 1, { isEcho: true, isOfRequest: true, blames, follows })
      }
    }
    yield
    for (const record of untraced) {
      if (!isRisen(record)) continue
      const service = named(record.kind) ?? (reader.isAnswered(record.kind) ? answerers.beside(record.kind.service) : undefined)
      // A service that is alone has nobody to blame.
      const isEcho = service !== undefined || (system.services.length > 1 && isRemote(record.kind)) || echoed.has(record.kind.service)
      if (service !== undefined) note(service, record, side as 0 | 1)
      const follows = service === undefined ? echoed.get(record.kind.service) : undefined
      note(record.kind.service, record, side as 0 | 1, { isEcho, blames: service, follows })
    }
    yield
  }
  return [...tallies.values()]
}

/** Errors that name a second service which mostly names a third, or whose errors follow those of a third, are evidence for the third, and little for the second. */
export function followNames(all: readonly Tally[], echoes: readonly (readonly [number, number])[]): readonly Tally[] {
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
export function findEchoes(errors: readonly ObservedRecord[]): readonly (readonly [number, number])[] {
  const times = new Map<number, number[]>()
  for (const { kind, timeMs } of errors) entryOf(times, kind.service, () => []).push(timeMs)
  const echoes: (readonly [number, number])[] = []
  const services = [...times.keys()].slice(0, MAX_SERVICES_ECHOING)
  for (const later of services.filter(service => times.get(service)!.length >= MIN_ECHOES))
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
