/**
 * Detector for what has no trace ids: how often a statement comes, how many of a service's records are errors, and whether a service is heard at all,
 * against the minutes of the baseline. A service that has traces is looked at for silence alone (Decisions 6).
 */

import { textOf } from '../errors/error-reader.ts'
import { tellsStall, waitsForOthers } from '../errors/read-error-words.ts'
import { type Findings, HintBoard, MAX_NEWCOMER } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from '../observed/observed-system.ts'
import type { ReasonKind } from '../root-cause.ts'
import { quoted, recordsOf, rounded } from '../wording.ts'
import type { Failures } from './failures.ts'
import { MinuteSeries } from './minute-series.ts'
import { countShift, median } from './statistics.ts'

const MINUTE_MS = 60_000
/** Shorter baselines say nothing. */
const MIN_MINUTES = 0.5
/** Records that are expected of a statement that never came. */
const PRIOR_COUNT = 0.5
/** Silence that failing requests explain counts half. */
const EXPLAINED = 0.5
/** Share of new lines from which on a service has replaced what it says. */
const REPLACED = 0.5
/** A statement breaks off where the rest of its service is heard so many times as often. */
const MORE_HEARD = 1.5
/** Records that come together are one piece of evidence: this many at most. */
const MAX_TOGETHER = 3

/** The load is told by services of which so many records are expected, where there are so many of them. */
const MIN_EXPECTED = 10
const MIN_SERVICES = 3

/** The subject of what tells that a service is silent. */
const SILENCE = 'silence'

interface ServiceSeries {
  readonly all: MinuteSeries
  readonly untraced: MinuteSeries
}

/** Records by service and statement, of the minutes before and of the window. */
interface Counted {
  readonly services: ReadonlyMap<number, ServiceSeries>
  readonly statements: ReadonlyMap<Kind, MinuteSeries>
  readonly minutes: number
  readonly windowMinutes: number
}

/** The measure that a window is held against. */
interface Usual {
  /** How many records the window would have without a fault. */
  expectedOf(series: MinuteSeries): number
  /** By how much it has more (positive) or less than that, beyond what chance does at such a `spread`. */
  shiftOf(service: number, series: MinuteSeries, spread: number): number
}

export function* findRates(system: ObservedSystem, failures: Failures): Generator<void, Findings> {
  const board = new HintBoard()
  const counted = yield* countRecords(system)
  if (counted === undefined) return board.findings()
  const usual = usualOf(counted, failures)
  addStatements(board, system.window, counted, usual, failures)
  addSilences(board, system.window, counted, usual)
  return board.findings()
}

/** Undefined where there is too little to compare. */
function* countRecords({ baseline, window, atMs }: ObservedSystem): Generator<void, Counted | undefined> {
  const minutes = (atMs - baseline.firstMs) / MINUTE_MS
  // The window is as long as anybody is heard in it.
  const windowMinutes = Math.max((window.lastMs - atMs) / MINUTE_MS, 1 / 60)
  if (!(minutes >= MIN_MINUTES) || Number.isNaN(windowMinutes)) return undefined
  const statements = new Map<Kind, MinuteSeries>()
  const services = new Map<number, ServiceSeries>()
  yield* count(baseline, services, statements, (series, record) => series.addBefore(Math.floor((atMs - record.timeMs) / MINUTE_MS)))
  yield* count(window, services, statements, series => series.inWindow++)
  return { services, statements, minutes, windowMinutes }
}

function usualOf({ services, minutes, windowMinutes }: Counted, { worstShare, origins }: Failures): Usual {
  const atUsualLoad = (series: MinuteSeries) => ((series.total + PRIOR_COUNT) / minutes) * windowMinutes
  const load = loadOf([...services.values()].map(({ all }) => ({ expected: atUsualLoad(all), seen: all.inWindow })))
  /** Between what is usual and what is usual at such a load: what goes by the clock comes as often as ever. */
  const expectedOf = (series: MinuteSeries) => Math.min(Math.max(series.inWindow, atUsualLoad(series)), atUsualLoad(series) * load)
  return {
    expectedOf,
    shiftOf(service, series, spread) {
      const { inWindow } = series
      const expected = expectedOf(series)
      // The mean of the baseline is not exact either.
      const widened = spread * (1 + windowMinutes / minutes)
      const shift = countShift(inWindow, expected, widened)
      if (shift >= 0 || worstShare === 0 || origins.has(service)) return shift
      // Where others' requests fail, less is heard; that explains as much of the silence, but not all of its weight.
      const rest = expected * (1 - worstShare)
      return Math.min(rest > inWindow ? countShift(inWindow, rest, widened) : 0, EXPLAINED * shift)
    },
  }
}

function addStatements(board: HintBoard, window: ObservedPeriod, counted: Counted, usual: Usual, { risen }: Failures): void {
  const { services, statements, minutes } = counted
  const isReplaced = replacedServices(counted, risen)
  for (const [kind, series] of statements) {
    const { all, untraced } = services.get(kind.service)!
    const expected = usual.expectedOf(series)
    const seen = usual.shiftOf(kind.service, series, series.total === 0 ? untraced.spread(minutes) : series.spread(minutes))
    const isEffect = seen > 0 && waitsForOthers(kind.pattern)
    const shift = untraced.total === 0 || isEffect ? Math.min(seen, MAX_NEWCOMER) : seen
    // Errors have a detector of their own, and that they no longer come is no fault.
    if (shift === 0 || (shift > 0 ? risen.has(kind) : kind.isError)) continue
    const isHeard = untraced.inWindow * expected > MORE_HEARD * series.inWindow * usual.expectedOf(untraced)
    const reason: ReasonKind = shift < 0 ? 'missing' : series.total === 0 ? 'new' : 'rate'
    const says = { missing: 'comes less often', new: 'is new', rate: 'comes more often' }[reason as 'missing' | 'new' | 'rate']
    const hint = {
      service: kind.service,
      strength: Math.abs(shift),
      statement: kind.id,
      ...(!isEffect && shift > 0 && kind.isWarning && series.total === 0 && { isWarning: true }),
      ...(shift > 0 && tellsStall(kind.pattern) && { isStall: true }),
      nature: isEffect ? 'remote' : shift > 0 || isReplaced(kind.service) ? 'change' : isHeard ? 'broken' : 'silence',
    } as const
    // That a service is gone says more than that one of its statements is.
    if (shift < 0 && all.inWindow === 0)
      board.add({ ...hint, subject: SILENCE, tell: () => tellSilence(window, kind.service, all, usual, hint.strength) })
    else
      board.add({
        ...hint,
        subject: kind.id,
        tell: () => ({
          kind: reason,
          strength: hint.strength,
          text: `${quoted(textOf(kind))} ${says}: ${recordsOf(series.inWindow)}, ${reason === 'new' ? 'never before' : `${rounded(expected)} expected`}`,
          patternId: kind.patternId,
          count: series.inWindow,
          expected: rounded(expected),
          samples: () => (shift < 0 ? untracedOf(window, kind.service) : window.untraced.filter(record => record.kind === kind)),
        }),
      })
  }
}

/** Tells of a service whether new lines come in the place of others: a new release. */
function replacedServices({ services, statements }: Counted, risen: Failures['risen']): (service: number) => boolean {
  const inPlace = new Map<number, number>()
  for (const [kind, { total, inWindow }] of statements)
    if (total === 0 && !risen.has(kind)) inPlace.set(kind.service, (inPlace.get(kind.service) ?? 0) + inWindow)
  return service => (inPlace.get(service) ?? 0) > REPLACED * services.get(service)!.untraced.inWindow
}

function addSilences(board: HintBoard, window: ObservedPeriod, { services, statements, minutes }: Counted, usual: Usual): void {
  const squares = new Map<number, number>()
  for (const [kind, { total }] of statements) squares.set(kind.service, (squares.get(kind.service) ?? 0) + total ** 2)
  /** How many statements come as often as each other, and so perhaps together. */
  const perTime = (service: number, { total }: MinuteSeries) => Math.max(total ** 2 / (squares.get(service) ?? total ** 2), 1) || 1
  for (const [service, { all, untraced }] of services) {
    const shift = usual.shiftOf(service, all, all.spread(minutes)) / Math.sqrt(Math.min(perTime(service, all), MAX_TOGETHER))
    const isSilent = all.inWindow === 0 || (all.inWindow < usual.expectedOf(all) && untraced.total > 0)
    if (shift < 0 && isSilent) {
      const tell = () => tellSilence(window, service, all, usual, -shift)
      board.add({ service, strength: -shift, subject: SILENCE, nature: 'silence', tell })
    }
  }
}

function tellSilence(window: ObservedPeriod, service: number, all: MinuteSeries, usual: Usual, strength: number) {
  const expected = rounded(usual.expectedOf(all))
  return {
    kind: 'silence' as const,
    strength,
    text: `${all.inWindow === 0 ? 'has gone silent' : 'is heard less'}: ${recordsOf(all.inWindow)}, ${expected} expected`,
    count: all.inWindow,
    expected,
    samples: () => untracedOf(window, service),
  }
}

/** How many times as much as usual is heard of most services, at least once: more requests are no fault, less may be the work of one. */
function loadOf(services: readonly { readonly expected: number; readonly seen: number }[]): number {
  const ratios = services.filter(({ expected }) => expected >= MIN_EXPECTED).map(({ expected, seen }) => seen / expected)
  return ratios.length < MIN_SERVICES ? 1 : Math.max(1, median(ratios))
}

function untracedOf({ untraced }: ObservedPeriod, service: number): readonly ObservedRecord[] {
  return untraced.filter(({ kind }) => kind.service === service)
}

function* count(
  { records, untraced }: ObservedPeriod,
  services: Map<number, ServiceSeries>,
  statements: Map<Kind, MinuteSeries>,
  add: (series: MinuteSeries, record: ObservedRecord) => void,
): Generator<void, void> {
  const alone = new Set(untraced)
  let done = 0
  for (const record of records) {
    if (++done % 5_000 === 0) yield
    const { kind } = record
    const series = entryOf(services, kind.service, newSeries)
    add(series.all, record)
    if (!alone.has(record)) continue
    add(series.untraced, record)
    add(
      entryOf(statements, kind, () => new MinuteSeries()),
      record,
    )
  }
}

const newSeries = (): ServiceSeries => ({ all: new MinuteSeries(), untraced: new MinuteSeries() })
