/**
 * Detector: what a service logs within one visit. A statement that vanishes tells of an exception that nobody logs, a new one of a branch that was
 * never taken, one that comes twice of a retry. A shift counts as far as the baseline shows it with and without requests of errors that stopped (Decisions 6).
 */

import { textOf } from '../errors/error-reader.ts'
import { tellsStall, waitsForOthers } from '../errors/read-error-words.ts'
import { type Findings, HintBoard, MAX_NEWCOMER } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { atLeast, quoted, rounded } from '../wording.ts'
import type { Failures } from './failures.ts'
import { type Shifted, sharedShift, type Triple } from './statistics.ts'

/** How often a statement comes in one visit is told apart up to here. */
const LEVELS = 3

interface VisitType {
  readonly type: Kind
  readonly visits: Triple
  /** Visits with at least so many records of a statement, by `kind * LEVELS + level - 1`. */
  readonly present: Map<number, Triple>
}

export function* findStructure(system: ObservedSystem, { recovered }: Pick<Failures, 'recovered'>): Generator<void, Findings> {
  const types = new Map<number, VisitType>()
  yield* tally(system.baseline, request => (recovered.has(request) ? 2 : 0), types)
  yield* tally(system.window, () => 1, types)
  const board = new HintBoard()
  let done = 0
  for (const { type, visits, present } of types.values())
    for (const [key, count] of present) {
      if (++done % 5_000 === 0) yield
      const found = sharedShift(count, visits)
      if (found === undefined) continue
      const seen = found.shift
      const kind = system.kinds[Math.floor(key / LEVELS)]!
      // Errors that no longer come are no fault.
      if (seen < 0 && kind.isError) continue
      const isEffect = seen > 0 && waitsForOthers(kind.pattern)
      const shift = isEffect ? Math.min(seen, MAX_NEWCOMER) : seen
      const level = (key % LEVELS) + 1
      board.add({
        service: type.service,
        strength: Math.abs(shift),
        subject: kind.id,
        statement: kind.id,
        ...(!isEffect && shift > 0 && kind.isWarning && found.count[0] === 0 && { isWarning: true }),
        ...(shift > 0 && tellsStall(kind.pattern) && { isStall: true }),
        nature: isEffect ? 'remote' : shift > 0 ? 'change' : 'broken',
        tell: () => tell(system, { ...found, type, kind, level, shift }),
      })
    }
  return board.findings()
}

function* tally(
  { requests }: ObservedPeriod,
  sideOf: (request: TracedRequest) => 0 | 1 | 2,
  types: Map<number, VisitType>,
): Generator<void, void> {
  let done = 0
  for (const request of requests) {
    const { visits, records } = request
    const side = sideOf(request)
    done += records.length
    if (done > 2_000) {
      done = 0
      yield
    }
    for (const visit of visits) {
      const of = entryOf<number, VisitType>(types, visit.type.id, () => ({ type: visit.type, visits: [0, 0, 0], present: new Map() }))
      of.visits[side]++
      const counts = new Map<number, number>()
      for (const { kind } of visit.records) {
        const level = (counts.get(kind.id) ?? 0) + 1
        counts.set(kind.id, level)
        if (level > LEVELS) continue
        const key = kind.id * LEVELS + level - 1
        entryOf(of.present, key, (): Triple => [0, 0, 0])[side]++
      }
    }
  }
}

interface Shift extends Shifted {
  readonly type: Kind
  readonly kind: Kind
  readonly level: number
}

function tell(system: ObservedSystem, { type, kind, level, count, of, shift }: Shift) {
  const expected = rounded((of[1] * count[0]) / of[0])
  const isMore = shift > 0
  const often = atLeast(level)
  const share = `in ${count[1]} of ${of[1]} visits`
  const text = isMore
    ? count[0] === 0
      ? `${quoted(textOf(kind))} is new${often}: ${share}, never in ${of[0]} before`
      : `${quoted(textOf(kind))} comes more often${often}: ${share}, ${expected} expected`
    : `${quoted(textOf(kind))} is missing${often}: ${share}, ${expected} expected`
  return {
    kind: isMore ? (count[0] === 0 ? ('new' as const) : ('rate' as const)) : ('missing' as const),
    strength: Math.abs(shift),
    text,
    patternId: kind.patternId,
    count: count[1],
    expected,
    samples: () => showing(system, type, kind, level, isMore),
  }
}

/** The statement's records where there are more of them, else the first records of visits that lack them. */
function* showing({ window }: ObservedSystem, type: Kind, kind: Kind, level: number, isMore: boolean): Generator<ObservedRecord> {
  for (const { visits } of window.requests)
    for (const visit of visits) {
      if (visit.type !== type) continue
      const found = visit.records.filter(record => record.kind === kind)
      if (found.length >= level === isMore) yield isMore ? found[level - 1]! : visit.records[0]!
    }
}
