/**
 * Detector: which services a request reaches. A service that is reached in fewer requests of the same kind than before has gone silent, or its caller
 * fails before it calls. A shift counts as far as the baseline shows it with and without requests of errors that stopped (Decisions 6).
 */

import { type Findings, HintBoard, MAX_NEWCOMER } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { atLeast, quoted, rounded } from '../wording.ts'
import type { Failures } from './failures.ts'
import { lesserShift, shareShift, type Triple } from './statistics.ts'

/** How often a request makes the same visit is told apart up to here. */
const LEVELS = 2

/** Requests that begin with the same statement. */
interface Stratum {
  readonly requests: Triple
  /** Requests with at least so many visits of a type, by `type * LEVELS + level - 1`. */
  readonly reaching: Map<number, Triple>
}

/** Over all strata: what there is in the window, and what there would be at the shares of the baseline. */
interface Sum {
  observed: number
  expected: number
  requests: number
  requestsBefore: number
}

interface ShiftedSum extends Readonly<Sum> {
  readonly shift: number
}

export function* findVisits(system: ObservedSystem, { recovered }: Pick<Failures, 'recovered'>): Generator<void, Findings> {
  const strata = new Map<number, Stratum>()
  yield* tally(system.baseline, request => (recovered.has(request) ? 2 : 0), strata)
  yield* tally(system.window, () => 1, strata)
  const withoutRecovered = sumUp(strata, ([before]) => before)
  yield
  const sums = recovered.size === 0 ? withoutRecovered : sumUp(strata, ([before, , further]) => before + further)
  yield
  const board = new HintBoard()
  const before = new Set(system.baseline.records.map(({ kind }) => kind.service))
  for (const [key, known] of sums) {
    const other = withoutRecovered.get(key)
    const sum = other === undefined ? undefined : lesserShift(other, known)
    if (sum === undefined) continue
    const type = system.kinds[Math.floor(key / LEVELS)]!
    const isNewcomer = !before.has(type.service)
    const shift = Math.abs(sum.shift)
    const strength = isNewcomer ? Math.min(shift, MAX_NEWCOMER) : shift
    const level = (key % LEVELS) + 1
    board.add({
      service: type.service,
      strength,
      subject: `visit ${type.id}`,
      statement: type.id,
      nature: isNewcomer ? 'newcomer' : sum.observed > sum.expected ? 'change' : 'silence',
      tell: () => tell(system, { type, level, sum, strength }),
    })
  }
  return board.findings()
}

function* tally(
  { requests }: ObservedPeriod,
  sideOf: (request: TracedRequest) => 0 | 1 | 2,
  strata: Map<number, Stratum>,
): Generator<void, void> {
  let done = 0
  for (const request of requests) {
    const { visits } = request
    const side = sideOf(request)
    done += visits.length
    if (done > 2_000) {
      done = 0
      yield
    }
    const root = visits[0]!.type.id
    const stratum = entryOf<number, Stratum>(strata, root, () => ({ requests: [0, 0, 0], reaching: new Map() }))
    stratum.requests[side]++
    const counts = new Map<number, number>()
    for (const { type } of visits) {
      const level = (counts.get(type.id) ?? 0) + 1
      counts.set(type.id, level)
      if (level > LEVELS) continue
      entryOf(stratum.reaching, type.id * LEVELS + level - 1, (): Triple => [0, 0, 0])[side]++
    }
  }
}

/** `beforeOf` chooses the baseline out of its two parts. */
function sumUp(strata: ReadonlyMap<number, Stratum>, beforeOf: (counts: Readonly<Triple>) => number): ReadonlyMap<number, ShiftedSum> {
  const sums = new Map<number, Sum>()
  for (const { requests, reaching } of strata.values()) {
    const before = beforeOf(requests)
    const now = requests[1]
    if (before === 0 || now === 0) continue
    for (const [key, reached] of reaching) {
      const reachedBefore = beforeOf(reached)
      if (reachedBefore + reached[1] === before + now) continue
      const sum = entryOf(sums, key, () => ({ observed: 0, expected: 0, requests: 0, requestsBefore: 0 }))
      sum.observed += reached[1]
      sum.expected += (now * reachedBefore) / before
      sum.requests += now
      sum.requestsBefore += before
    }
  }
  return new Map([...sums].map(([key, sum]) => [key, { ...sum, shift: shiftOf(sum) }]))
}

function shiftOf({ observed, expected, requests, requestsBefore }: Sum): number {
  return shareShift([(expected / requests) * requestsBefore, observed], [requestsBefore, requests])
}

interface Reached {
  readonly type: Kind
  readonly level: number
  readonly sum: Readonly<Sum>
  readonly strength: number
}

function tell(system: ObservedSystem, { type, level, sum, strength }: Reached) {
  const isMore = sum.observed > sum.expected
  const expected = rounded(sum.expected)
  const text = `${isMore ? 'reached by more requests' : 'reached by fewer requests'}${atLeast(level)}: ${sum.observed} of ${sum.requests} come to ${quoted(type.pattern)}, ${expected} expected`
  return {
    kind: isMore ? ('calls' as const) : ('silence' as const),
    strength,
    text,
    patternId: type.patternId,
    count: sum.observed,
    expected,
    samples: () => showing(system, type, level, isMore),
  }
}

/** Records of requests that make the visit where there are more of them; else the last records of requests that should and do not. */
function* showing({ baseline, window }: ObservedSystem, type: Kind, level: number, isMore: boolean): Generator<ObservedRecord> {
  const roots = new Set<number>()
  for (const { visits } of baseline.requests) if (visits.some(visit => visit.type === type)) roots.add(visits[0]!.type.id)
  for (const { visits, records } of window.requests) {
    const found = visits.filter(visit => visit.type === type)
    if (isMore) {
      if (found.length >= level) yield found[level - 1]!.records[0]!
    } else if (found.length < level && roots.has(visits[0]!.type.id)) yield records.at(-1)!
  }
}
