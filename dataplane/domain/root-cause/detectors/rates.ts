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

export function* findRates(system: ObservedSystem, { risen, worstShare, origins }: Failures): Generator<void, Findings> {
  const board = new HintBoard()
  const { baseline, window, atMs } = system
  const minutes = (atMs - baseline.firstMs) / MINUTE_MS
  // The window is as long as anybody is heard in it.
  const windowMinutes = Math.max((window.lastMs - atMs) / MINUTE_MS, 1 / 60)
  if (!(minutes >= MIN_MINUTES) || Number.isNaN(windowMinutes)) return board.findings()

  const statements = new Map<Kind, MinuteSeries>()
  const services = new Map<number, ServiceSeries>()
  yield* count(baseline, services, statements, (series, record) => series.addBefore(Math.floor((atMs - record.timeMs) / MINUTE_MS)))
  yield* count(window, services, statements, series => series.inWindow++)

  const atUsualLoad = (series: MinuteSeries) => ((series.total + PRIOR_COUNT) / minutes) * windowMinutes
  const load = loadOf([...services.values()].map(({ all }) => ({ expected: atUsualLoad(all), seen: all.inWindow })))
  /** Between what is usual and what is usual at such a load: what goes by the clock comes as often as ever. */
  const expectedOf = (series: MinuteSeries) => Math.min(Math.max(series.inWindow, atUsualLoad(series)), atUsualLoad(series) * load)
  /** The mean of the baseline is not exact either. */
  const widen = (spread: number) => spread * (1 + windowMinutes / minutes)
  /** Where others' requests fail, less is heard; that explains as much of the silence, but not all of its weight. */
  const shiftFrom = (service: number, { inWindow }: MinuteSeries, expected: number, spread: number) => {
    const shift = countShift(inWindow, expected, spread)
    if (shift >= 0 || worstShare === 0 || origins.has(service)) return shift
    const rest = expected * (1 - worstShare)
    return Math.min(rest > inWindow ? countShift(inWindow, rest, spread) : 0, EXPLAINED * shift)
  }
  const tellSilence = (service: number, strength: number) => {
    const { all } = services.get(service)!
    const expected = rounded(expectedOf(all))
    return {
      kind: 'silence' as const,
      strength,
      text: `${all.inWindow === 0 ? 'has gone silent' : 'is heard less'}: ${recordsOf(all.inWindow)}, ${expected} expected`,
      count: all.inWindow,
      expected,
      samples: () => untracedOf(window, service),
    }
  }
  const inPlace = new Map<number, number>()
  for (const [kind, { total, inWindow }] of statements)
    if (total === 0 && !risen.has(kind)) inPlace.set(kind.service, (inPlace.get(kind.service) ?? 0) + inWindow)
  /** Whether new lines come in the place of others: a new release. */
  const isReplaced = (service: number) => (inPlace.get(service) ?? 0) > REPLACED * services.get(service)!.untraced.inWindow
  for (const [kind, series] of statements) {
    const { untraced } = services.get(kind.service)!
    const expected = expectedOf(series)
    const spread = series.total === 0 ? untraced.spread(minutes) : series.spread(minutes)
    const seen = shiftFrom(kind.service, series, expected, widen(spread))
    const isEffect = seen > 0 && waitsForOthers(kind.pattern)
    const shift = untraced.total === 0 || isEffect ? Math.min(seen, MAX_NEWCOMER) : seen
    // Errors have a detector of their own, and that they no longer come is no fault.
    if (shift === 0 || (shift > 0 ? risen.has(kind) : kind.isError)) continue
    const isHeard = untraced.inWindow * expected > MORE_HEARD * series.inWindow * expectedOf(untraced)
    const reason: ReasonKind = shift < 0 ? 'missing' : series.total === 0 ? 'new' : 'rate'
    const says = { missing: 'comes less often', new: 'is new', rate: 'comes more often' }[reason as 'missing' | 'new' | 'rate']
    // That a service is gone says more than that one of its statements is.
    const isGone = shift < 0 && services.get(kind.service)!.all.inWindow === 0
    board.add({
      service: kind.service,
      strength: Math.abs(shift),
      subject: isGone ? SILENCE : kind.id,
      statement: kind.id,
      ...(!isEffect && shift > 0 && kind.isWarning && series.total === 0 && { isWarning: true }),
      ...(shift > 0 && tellsStall(kind.pattern) && { isStall: true }),
      nature: isEffect ? 'remote' : shift > 0 || isReplaced(kind.service) ? 'change' : isHeard ? 'broken' : 'silence',
      tell: () =>
        isGone
          ? tellSilence(kind.service, Math.abs(shift))
          : {
              kind: reason,
              strength: Math.abs(shift),
              text: `${quoted(textOf(kind))} ${says}: ${recordsOf(series.inWindow)}, ${rounded(expected)} expected`,
              patternId: kind.patternId,
              count: series.inWindow,
              expected: rounded(expected),
              samples: () => (shift < 0 ? untracedOf(window, kind.service) : window.untraced.filter(record => record.kind === kind)),
            },
    })
  }
  const squares = new Map<number, number>()
  for (const [kind, { total }] of statements) squares.set(kind.service, (squares.get(kind.service) ?? 0) + total ** 2)
  /** How many statements come as often as each other, and so perhaps together. */
  const perTime = (service: number, { total }: MinuteSeries) => Math.max(total ** 2 / (squares.get(service) ?? total ** 2), 1) || 1
  for (const [service, { all, untraced }] of services) {
    const expected = expectedOf(all)
    const shift = shiftFrom(service, all, expected, widen(all.spread(minutes))) / Math.sqrt(Math.min(perTime(service, all), MAX_TOGETHER))
    const isSilent = all.inWindow === 0 || (all.inWindow < expected && untraced.total > 0)
    if (shift < 0 && isSilent)
      board.add({
        service,
        strength: -shift,
        subject: SILENCE,
        nature: 'silence',
        tell: () => tellSilence(service, -shift),
      })
  }
  return board.findings()
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
