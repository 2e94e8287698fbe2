/**
 * For whom services wait whose errors do not tell: one of which nothing is heard any more, one that does not end what it begins, a database that
 * tells of slow statements (Decisions 6).
 */

import { median } from '../detectors/statistics.ts'
import { tellsSlowStatement } from '../errors/read-error-words.ts'
import type { Hint, Nature } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from '../observed/observed-system.ts'
import type { CutOff } from './cut-off.ts'

/** The evidence against a service. */
export interface Seen {
  readonly service: number
  readonly score: number
  readonly nature: Nature
  readonly hints: readonly { readonly hint: Hint; readonly strength: number }[]
}

/** Services of each kind that are looked at, the strongest. */
const MAX_LOOKED_AT = 20
/** A service waits whose errors say so with this part of its strength. */
const MOST_OF_WAITING = 0.3
/** Visits break off where they wait. */
const OF_WAITING: readonly Nature[] = ['cause', 'fault', 'remote', 'broken']

/** One that is not heard explains who waits for it from this part of that one's strength on: what failing requests show of it counts half. */
const NEAR_UNHEARD = 0.3
/** and one that tells of slow statements from this part on: it says why; */
const NEAR_SLOW = 0.1
/** one that tells of a state that lasts says so once. */
const NEAR_STUCK = 0.05
/** Share of the requests of a service that waits in which the one for which it waits is heard at most. */
const HEARD = 0.1
/** Strength of lines on slow statements that tell anything: a database that logs nothing else is new by them. */
const LEAST_SLOW = 0.5

/** For each service that waits those for which it may wait, with the part of its strength from which on they explain it; without any where no trace tells which. */
export type Awaited = ReadonlyMap<number, ReadonlyMap<number, number>>

export interface AwaitedIn {
  readonly risen: ReadonlySet<Kind>
  /** The other service is silent because the first one fails too early. */
  readonly isCutOff: CutOff
  /** Services that told of their stop shortly before, or while, others fail. */
  readonly stopped: ReadonlySet<number>
}

export function findAwaited(all: readonly Seen[], system: ObservedSystem, { risen, isCutOff, stopped }: AwaitedIn): Awaited {
  const waiting = strongest(all.filter(waits))
  if (waiting.length === 0) return new Map()
  const { baseline, kinds } = system
  const traced = new Set(baseline.requests.flatMap(({ visits }) => visits.map(({ type }) => type.service)))
  const isHeard = heardLater(system, traced)
  const isHeardBeside = heardInFailing(system.window, new Set(servicesOf(waiting)), risen)
  const isMute = ({ nature, service }: Seen) =>
    nature === 'silence' ? traced.has(service) || !isHeard(service) || stopped.has(service) : nature === 'broken' && traced.has(service)
  const mute = new Set(servicesOf(strongest(all.filter(isMute))))
  const broken = new Set(servicesOf(all.filter(({ nature }) => nature === 'broken')))
  const begun = servicesOf(strongest(all.filter(beginsOnly)))
  const slow = servicesOf(
    strongest(all.filter(({ hints }) => hints.some(each => each.strength >= LEAST_SLOW && isOfSlowStatement(each.hint, kinds)))),
  )
  const stuck = servicesOf(strongest(all.filter(({ hints }) => hints.some(({ hint }) => hint.isLasting === true))))
  const isBeside = findBeside(baseline, new Set(servicesOf(waiting)), new Set(begun))
  const isWithin = findWithin(baseline, new Set(servicesOf(waiting)), new Set([...mute, ...slow, ...stuck]))
  const isInPlace = findInPlace(system, { services: new Set(servicesOf(waiting)), others: mute, risen })
  const mayWait = (service: number, other: number) =>
    service !== other && (!traced.has(service) || isWithin(service, other) || isInPlace(service, other))
  const found = new Map<number, ReadonlyMap<number, number>>()
  for (const { service, hints } of waiting) {
    // Without a connection nobody is called.
    const isUnanswered = hints.some(({ hint }) => hint.waits === 'answer')
    const hanging = isUnanswered
      ? begun.filter(other => other !== service && (!traced.has(service) || !traced.has(other) || isBeside(service, other)))
      : []
    const isUnheard = (other: number) =>
      !isHeard(other) ||
      broken.has(other) ||
      stopped.has(other) ||
      (traced.has(service) && traced.has(other) && !isHeardBeside(service, other))
    const unheard =
      isUnanswered && hanging.length === 0
        ? [...mute].filter(other => mayWait(service, other) && isUnheard(other) && !isCutOff(service, other))
        : []
    const holding = [...slow.map(other => [other, NEAR_SLOW] as const), ...stuck.map(other => [other, NEAR_STUCK] as const)]
    const busy = holding.filter(([other]) => other !== service && (!traced.has(other) || mayWait(service, other)))
    const explaining = [
      ...hanging.map(other => [other, NEAR_UNHEARD] as const),
      ...nextBehind(baseline, service, unheard).map(other => [other, NEAR_UNHEARD] as const),
      ...busy,
    ]
    if (hanging.length + unheard.length + busy.length > 0) found.set(service, new Map(explaining))
  }
  return found
}

/** New lines on statements that took long, or more of them. */
export function isOfSlowStatement({ nature, statement }: Hint, kinds: ObservedSystem['kinds']): boolean {
  return nature === 'change' && statement !== undefined && tellsSlowStatement(kinds[statement]!.pattern)
}

function waits({ nature, score, hints }: Seen): boolean {
  const isWaiting = ({ hint: { waits = 'nothing' }, strength }: Seen['hints'][number]) =>
    waits !== 'nothing' && strength >= MOST_OF_WAITING * score
  return OF_WAITING.includes(nature) && hints.some(isWaiting) && hints.every(({ hint }) => hint.waits !== 'nothing')
}

/** Whether a service takes calls, does not end them, and complains of nobody: the services behind it are not called any more. */
function beginsOnly({ nature, hints }: Seen): boolean {
  return nature === 'broken' && hints.every(({ hint }) => hint.isErrors !== true)
}

const strongest = (seen: readonly Seen[]) => seen.toSorted((a, b) => b.score - a.score).slice(0, MAX_LOOKED_AT)
const servicesOf = (seen: readonly Seen[]) => seen.map(({ service }) => service)

/** Whether a service is heard in the later half of the window; one that has requests, in requests: what goes by the clock may go on. */
function heardLater({ atMs, window }: ObservedSystem, traced: ReadonlySet<number>): (service: number) => boolean {
  // Requests that were under way when the fault came are heard a little longer.
  const middleMs = (atMs + window.lastMs) / 2
  const heard = (records: readonly ObservedRecord[]) => records.filter(({ timeMs }) => timeMs >= middleMs).map(({ kind }) => kind.service)
  const inRequests = new Set(window.requests.flatMap(({ records }) => heard(records)))
  const atAll = new Set(heard(window.records))
  return service => (traced.has(service) ? inRequests : atAll).has(service)
}

/**
 * Whether most requests that reach the other service come there from the first one, or go on at the first one afterwards. A service that is merely
 * called before the other one, by the same caller, does not wait for it.
 */
function findWithin(
  { requests }: ObservedPeriod,
  services: ReadonlySet<number>,
  others: ReadonlySet<number>,
): (service: number, other: number) => boolean {
  const reached = new Map<number, number>()
  const within = new Map<number, Map<number, number>>()
  for (const { records } of others.size === 0 ? [] : requests) {
    const first = new Map<number, number>()
    const last = new Map<number, number>()
    for (const [at, { kind }] of records.entries()) {
      if (!first.has(kind.service)) first.set(kind.service, at)
      last.set(kind.service, at)
    }
    for (const [other, at] of first) {
      if (!others.has(other)) continue
      reached.set(other, (reached.get(other) ?? 0) + 1)
      for (const [service, from] of first) {
        if (!services.has(service) || from >= at) continue
        const isWithin = records[at - 1]!.kind.service === service || last.get(service)! > at
        const counts = entryOf(within, service, () => new Map<number, number>())
        if (isWithin) counts.set(other, (counts.get(other) ?? 0) + 1)
      }
    }
  }
  return (service, other) => 2 * (within.get(service)?.get(other) ?? 0) > (reached.get(other) ?? 0)
}

interface Sides {
  readonly services: ReadonlySet<number>
  readonly others: ReadonlySet<number>
  readonly risen: ReadonlySet<Kind>
}

/** Whether the first service mostly fails behind the statement behind which requests mostly reach the other one: its error stands where that one should be heard. */
function findInPlace(
  { baseline, window }: ObservedSystem,
  { services, others, risen }: Sides,
): (service: number, other: number) => boolean {
  const isFailure = ({ kind, isError }: ObservedRecord) => isError && services.has(kind.service) && risen.has(kind)
  const usual = mostBefore(others.size === 0 ? [] : baseline.requests, ({ kind }) => others.has(kind.service))
  const failing = mostBefore(others.size === 0 ? [] : window.requests.filter(({ hasErrors }) => hasErrors), isFailure)
  return (service, other) => usual.has(other) && usual.get(other) === failing.get(service)
}

/** By service the statement that stands before its first record of a kind in most requests. */
function mostBefore(requests: ObservedPeriod['requests'], isMeant: (record: ObservedRecord) => boolean): ReadonlyMap<number, Kind> {
  const counts = new Map<number, Map<Kind | undefined, number>>()
  for (const { records } of requests) {
    const seen = new Set<number>()
    for (const [at, record] of records.entries()) {
      const { service } = record.kind
      if (!isMeant(record) || seen.has(service)) continue
      seen.add(service)
      const before = records[at - 1]?.kind
      const known = entryOf(counts, service, () => new Map<Kind | undefined, number>())
      known.set(before, (known.get(before) ?? 0) + 1)
    }
  }
  return new Map(
    [...counts].flatMap(([service, known]) => {
      const all = [...known.values()].reduce((sum, each) => sum + each, 0)
      return [...known].flatMap(([kind, count]) => (kind !== undefined && 2 * count > all ? [[service, kind] as const] : []))
    }),
  )
}

/** Whether most requests that reach the other service reach the first one, in either order: clocks differ. */
function findBeside(
  { requests }: ObservedPeriod,
  services: ReadonlySet<number>,
  others: ReadonlySet<number>,
): (service: number, other: number) => boolean {
  const reached = new Map<number, number>()
  const beside = new Map<number, Map<number, number>>()
  for (const { visits } of others.size === 0 ? [] : requests) {
    const all = new Set(visits.map(({ type }) => type.service))
    for (const other of all) {
      if (!others.has(other)) continue
      reached.set(other, (reached.get(other) ?? 0) + 1)
      for (const service of all) {
        if (!services.has(service)) continue
        const counts = entryOf(beside, service, () => new Map<number, number>())
        counts.set(other, (counts.get(other) ?? 0) + 1)
      }
    }
  }
  return (service, other) => 2 * (beside.get(service)?.get(other) ?? 0) > (reached.get(other) ?? 0)
}

/** Whether the other service is heard in most requests in which the first one fails. */
function heardInFailing(
  { requests }: ObservedPeriod,
  services: ReadonlySet<number>,
  risen: ReadonlySet<Kind>,
): (service: number, other: number) => boolean {
  const failing = new Map<number, { all: number; readonly heard: Map<number, number> }>()
  for (const { hasErrors, records, visits } of requests) {
    if (!hasErrors) continue
    const failed = new Set(
      records.filter(({ kind, isError }) => isError && services.has(kind.service) && risen.has(kind)).map(({ kind }) => kind.service),
    )
    const heard = failed.size === 0 ? [] : new Set(visits.map(({ type }) => type.service))
    for (const service of failed) {
      const count = entryOf(failing, service, () => ({ all: 0, heard: new Map() }))
      count.all++
      for (const other of heard) count.heard.set(other, (count.heard.get(other) ?? 0) + 1)
    }
  }
  return (service, other) => {
    const count = failing.get(service)
    return count === undefined || (count.heard.get(other) ?? 0) > HEARD * count.all
  }
}

/** The one of the others that is reached next behind a service: those behind that one are not called any more. */
function nextBehind(baseline: ObservedPeriod, service: number, others: readonly number[]): readonly number[] {
  const found = firstBehind(baseline, service, others)
  return found.length > 0 || others.length < 2 ? (found.length > 0 ? found : others) : soonestBehind(baseline, service, others)
}

/** Without trace ids: the one of the others that is usually heard soonest after a service; all where nobody knows. */
function soonestBehind({ untraced }: ObservedPeriod, service: number, others: readonly number[]): readonly number[] {
  const lags = new Map<number, number[]>(others.map(other => [other, []]))
  let lastMs = Number.NaN
  for (const { kind, timeMs } of untraced) {
    if (kind.service === service) lastMs = timeMs
    else if (!Number.isNaN(lastMs)) lags.get(kind.service)?.push(timeMs - lastMs)
  }
  const usual = [...lags].flatMap(([other, after]) => (after.length === 0 ? [] : [[other, median(after)] as const]))
  const least = Math.min(...usual.map(([, ms]) => ms))
  return usual.length === 0 ? others : usual.flatMap(([other, ms]) => (ms === least ? [other] : []))
}

/** The one of the others that most requests reach first behind a service. */
function firstBehind({ requests }: ObservedPeriod, service: number, others: readonly number[]): readonly number[] {
  const times = new Map<number, number>()
  for (const { visits } of others.length === 0 ? [] : requests) {
    const start = visits.findIndex(({ type }) => type.service === service)
    const first = start < 0 ? undefined : visits.slice(start).find(({ type }) => others.includes(type.service))
    if (first !== undefined) times.set(first.type.service, (times.get(first.type.service) ?? 0) + 1)
  }
  const most = Math.max(...times.values())
  return others.filter(other => times.get(other) === most)
}
