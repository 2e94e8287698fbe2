/**
 * Detector: after whose words requests end. Where they newly end after the usual last words of a service, it may have failed behind these words, and its
 * callers did not go on. That they would go on elsewhere tells as much of the one that should (Decisions 6).
 */

import { type Findings, HintBoard } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from '../observed/observed-system.ts'
import { quoted, rounded } from '../wording.ts'
import { type Pair, shareShift } from './statistics.ts'

/** Requests that were heard so shortly before the period ends may go on, ms. */
const STILL_OPEN_MS = 2_000

/** Requests that begin with the same statement. */
interface Stratum {
  readonly requests: Pair
  /** By the statement with which they end. */
  readonly ending: Map<Kind, Pair>
}

/** Over all strata: what there is in the window, and what there would be at the shares of the baseline. */
interface Sum {
  observed: number
  expected: number
  requests: number
  requestsBefore: number
}

export function* findEnds(system: ObservedSystem): Generator<void, Findings> {
  const strata = new Map<number, Stratum>()
  yield* tally(system.baseline, 0, strata)
  yield* tally(system.window, 1, strata)
  const isLast = yield* findLastWords(system.baseline)
  const board = new HintBoard()
  for (const [kind, sum] of sumUp(strata)) {
    // An error tells of itself, and so do a new line and a visit that breaks off.
    if (kind.isError || !isLast(kind)) continue
    const { observed, expected, requests, requestsBefore } = sum
    const strength = shareShift([(expected / requests) * requestsBefore, observed], [requestsBefore, requests])
    if (strength <= 0) continue
    board.add({
      service: kind.service,
      strength,
      subject: `end ${kind.id}`,
      statement: kind.id,
      nature: 'broken',
      tell: () => ({
        kind: 'missing',
        strength,
        text: `requests end after ${quoted(kind.pattern)}: ${observed} of ${requests}, ${rounded(expected)} expected`,
        patternId: kind.patternId,
        count: observed,
        expected: rounded(expected),
        samples: () => showing(system.window, kind),
      }),
    })
  }
  return board.findings()
}

function* tally({ requests, lastMs }: ObservedPeriod, side: 0 | 1, strata: Map<number, Stratum>): Generator<void, void> {
  let done = 0
  for (const { records, visits } of requests) {
    if (++done % 2_000 === 0) yield
    const { kind, timeMs } = records.at(-1)!
    if (timeMs > lastMs - STILL_OPEN_MS) continue
    const stratum = entryOf<number, Stratum>(strata, visits[0]!.type.id, () => ({ requests: [0, 0], ending: new Map() }))
    stratum.requests[side]++
    entryOf(stratum.ending, kind, (): Pair => [0, 0])[side]++
  }
}

function sumUp(strata: ReadonlyMap<number, Stratum>): ReadonlyMap<Kind, Readonly<Sum>> {
  const sums = new Map<Kind, Sum>()
  for (const { requests, ending } of strata.values()) {
    const [before, now] = requests
    if (before === 0 || now === 0) continue
    for (const [kind, [endedBefore, ended]] of ending) {
      const sum = entryOf(sums, kind, () => ({ observed: 0, expected: 0, requests: 0, requestsBefore: 0 }))
      sum.observed += ended
      sum.expected += (now * endedBefore) / before
      sum.requests += now
      sum.requestsBefore += before
    }
  }
  return sums
}

/** Whether most visits that hold a statement end with it. */
function* findLastWords({ requests }: ObservedPeriod): Generator<void, (kind: Kind) => boolean> {
  const held = new Map<Kind, number>()
  const last = new Map<Kind, number>()
  let done = 0
  for (const { visits } of requests)
    for (const { records } of visits) {
      if (++done % 2_000 === 0) yield
      for (const kind of new Set(records.map(record => record.kind))) held.set(kind, (held.get(kind) ?? 0) + 1)
      const { kind } = records.at(-1)!
      last.set(kind, (last.get(kind) ?? 0) + 1)
    }
  return kind => 2 * (last.get(kind) ?? 0) > (held.get(kind) ?? 0)
}

function* showing({ requests }: ObservedPeriod, kind: Kind): Generator<ObservedRecord> {
  for (const { records } of requests) {
    const last = records.at(-1)!
    if (last.kind === kind) yield last
  }
}
