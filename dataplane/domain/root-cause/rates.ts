/**
 * Detector for what has no trace ids: how often a statement comes, how many of a service's records are errors, and whether a service is heard at all,
 * against the minutes of the baseline. A service that has traces is looked at for silence alone (Decisions 6).
 */
import { entryOf } from './entry-of.ts'
import { type Findings, HintBoard } from './findings.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from './observed-system.ts'
import type { ReasonKind } from './root-cause.ts'
import { countShift, type Pair, shareShift } from './statistics.ts'
import { quoted, rounded } from './wording.ts'

const MINUTE_MS = 60_000
/** Shorter baselines say nothing about how much a minute differs from the next. */
const MIN_MINUTES = 3
/** Records that are expected of a statement that never came, and minutes of Poisson spread that are taken for granted. */
const PRIOR_COUNT = 0.5
const PRIOR_MINUTES = 3

/** Counts of something by minutes of the baseline, which come in order. */
class Series {
  total = 0
  inWindow = 0
  #squares = 0
  #minute = Number.NaN
  #ofMinute = 0

  addBefore(minute: number): void {
    if (minute !== this.#minute) this.#ofMinute = 0
    this.#minute = minute
    // The square of a count is the sum of the odd numbers up to it.
    this.#squares += 2 * this.#ofMinute + 1
    this.#ofMinute++
    this.total++
  }

  /** Variance over mean of a minute, at least 1 (Poisson). */
  spread(minutes: number): number {
    const usual = this.total / minutes
    if (usual === 0) return 1
    const deviations = (this.#squares - minutes * usual * usual) / usual
    return Math.max(1, (deviations + PRIOR_MINUTES) / (minutes - 1 + PRIOR_MINUTES))
  }
}

interface ServiceSeries {
  readonly all: Series
  readonly untraced: Series
  readonly errors: Series
}

export function* findRates(system: ObservedSystem): Generator<void, Findings> {
  const board = new HintBoard()
  const { baseline, window, atMs } = system
  const minutes = (atMs - baseline.firstMs) / MINUTE_MS
  // The window is as long as anybody is heard in it.
  const windowMinutes = Math.max((window.lastMs - atMs) / MINUTE_MS, 1 / 60)
  if (!(minutes >= MIN_MINUTES) || Number.isNaN(windowMinutes)) return board.findings()

  const statements = new Map<Kind, Series>()
  const services = new Map<number, ServiceSeries>()
  yield* count(baseline, services, statements, (series, record) => series.addBefore(Math.floor((atMs - record.timeMs) / MINUTE_MS)))
  yield* count(window, services, statements, series => series.inWindow++)

  const expectedOf = (series: Series) => ((series.total + PRIOR_COUNT) / minutes) * windowMinutes
  /** The mean of the baseline is not exact either. */
  const widen = (spread: number) => spread * (1 + windowMinutes / minutes)
  for (const [kind, series] of statements) {
    const { untraced } = services.get(kind.service)!
    const expected = expectedOf(series)
    const spread = series.total === 0 ? untraced.spread(minutes) : series.spread(minutes)
    const shift = countShift(series.inWindow, expected, widen(spread))
    if (shift === 0) continue
    const reason: ReasonKind = shift < 0 ? 'missing' : series.total === 0 ? 'new' : 'rate'
    const says = { missing: 'comes less often', new: 'is new', rate: 'comes more often' }[reason as 'missing' | 'new' | 'rate']
    board.add({
      service: kind.service,
      strength: Math.abs(shift),
      subject: kind.id,
      tell: () => ({
        kind: reason,
        strength: Math.abs(shift),
        text: `${quoted(kind.pattern)} ${says}: ${series.inWindow} records, ${rounded(expected)} expected`,
        patternId: kind.patternId,
        count: series.inWindow,
        expected: rounded(expected),
        samples: () => (shift < 0 ? untracedOf(window, kind.service) : window.untraced.filter(record => record.kind === kind)),
      }),
    })
  }
  for (const [service, { all, untraced, errors }] of services) {
    const expected = expectedOf(all)
    const shift = countShift(all.inWindow, expected, widen(all.spread(minutes)))
    const isSilent = all.inWindow === 0 || (all.inWindow < expected && untraced.total > 0)
    if (shift < 0 && isSilent)
      board.add({
        service,
        strength: -shift,
        subject: 'silence',
        tell: () => ({
          kind: 'silence',
          strength: -shift,
          text: `${all.inWindow === 0 ? 'has gone silent' : 'is heard less'}: ${all.inWindow} records, ${rounded(expected)} expected`,
          count: all.inWindow,
          expected: rounded(expected),
          samples: () => untracedOf(window, service),
        }),
      })
    const of: Pair = [untraced.total, untraced.inWindow]
    const more = shareShift([errors.total, errors.inWindow], of) / Math.sqrt(errors.spread(minutes))
    if (more <= 0) continue
    const usual = rounded((errors.total / of[0]) * of[1])
    board.add({
      service,
      strength: more,
      subject: 'errors',
      tell: () => ({
        kind: 'errors',
        strength: more,
        text: `more errors: ${errors.inWindow} of ${untraced.inWindow} records, ${usual} expected`,
        count: errors.inWindow,
        expected: usual,
        samples: () => untracedOf(window, service).filter(({ isError }) => isError),
      }),
    })
  }
  return board.findings()
}

function untracedOf({ untraced }: ObservedPeriod, service: number): readonly ObservedRecord[] {
  return untraced.filter(({ kind }) => kind.service === service)
}

function* count(
  { requests, untraced }: ObservedPeriod,
  services: Map<number, ServiceSeries>,
  statements: Map<Kind, Series>,
  add: (series: Series, record: ObservedRecord) => void,
): Generator<void, void> {
  const seriesOf = (service: number) => {
    const series = entryOf(services, service, () => ({ all: new Series(), untraced: new Series(), errors: new Series() }))
    return series
  }
  const traced: ObservedRecord[] = []
  for (const { records } of requests) for (const record of records) traced.push(record)
  // Records without a trace id are counted with the others, minute by minute.
  const all = traced.concat(untraced).sort((a, b) => a.timeMs - b.timeMs)
  yield
  let done = 0
  for (const record of all) {
    if (++done % 5_000 === 0) yield
    const { kind, isError, source } = record
    const series = seriesOf(kind.service)
    add(series.all, record)
    if (source.traceId !== '') continue
    add(series.untraced, record)
    if (isError) add(series.errors, record)
    const statement = entryOf(statements, kind, () => new Series())
    add(statement, record)
  }
}
