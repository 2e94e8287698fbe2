/**
 * Detector: longer waits between consecutive records of a trace, within a service and between two. A slow network and a starved CPU show there and
 * nowhere else in logs (Decisions 6).
 */

import { type Findings, HintBoard } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from '../observed/observed-system.ts'
import { type Callees, findCallees } from '../order/callees.ts'
import { duration } from '../wording.ts'
import { deviation, mean, median, quantile } from './statistics.ts'

/** Added to each gap before its logarithm is taken: differences of a few ms are noise. */
const NOISE_MS = 5
/** Fewer gaps than this in the baseline say nothing about a pair of statements. */
const MIN_GAPS = 4
/** Spread of a pair's logarithms that is taken for granted, and that of a trace's mean. */
const MIN_SPREAD = 0.3
const MIN_DEVIATION = 0.5
/** A single gap counts from -1 to 20 spreads. */
const LOWEST = -1
const HIGHEST = 20
/** A slowdown before the window counts as normal: the mean of these last minutes, drawn to the baseline's as by this many traces. */
const RECENT_MS = 120_000
const PRIOR_TRACES = 5
/** One edge alone says no more than this. */
const MAX_EDGE = 50
/** Requests from other services that tell whether the one to which they come is slow, and the part of the slowness that is none. */
const MIN_OTHERS = 5
const AS_QUICK = 0.25
/** Share of an edge's slowness that counts for the service to which it leads, where others come there as quickly as ever. */
const OF_CALLER = 0.5
const Q90_OF_NORMAL = 1.2816

/** Gaps between one statement and the next. */
interface Norm {
  readonly middle: number
  readonly spread: number
}

interface Gap {
  readonly from: Kind
  readonly to: Kind
  readonly ms: number
  readonly end: ObservedRecord
  readonly request: number
}

/** Mean deviation of a request's gaps over one edge. */
type ByRequest = Map<number, { sum: number; count: number }>

interface Edge {
  readonly from: number
  readonly to: number
  readonly baseline: ByRequest
  readonly recent: ByRequest
  readonly window: ByRequest
}

export function* findDelays(system: ObservedSystem): Generator<void, Findings> {
  const before = yield* gapsOf(system.baseline)
  const now = yield* gapsOf(system.window)
  const kindCount = system.kinds.length
  const norms = yield* normsOf(before, kindCount)
  const edges = new Map<number, Edge>()
  const note = (gap: Gap, sides: readonly ('baseline' | 'recent' | 'window')[]) => {
    const norm = norms.get(gap.from.id * kindCount + gap.to.id)
    if (norm === undefined) return
    const key = gap.from.service * system.services.length + gap.to.service
    const edge = entryOf(edges, key, () => ({
      from: gap.from.service,
      to: gap.to.service,
      baseline: new Map(),
      recent: new Map(),
      window: new Map(),
    }))
    const z = Math.min(Math.max((Math.log(gap.ms + NOISE_MS) - norm.middle) / norm.spread, LOWEST), HIGHEST)
    for (const side of sides) {
      const known = edge[side].get(gap.request)
      if (known === undefined) edge[side].set(gap.request, { sum: z, count: 1 })
      else {
        known.sum += z
        known.count++
      }
    }
  }
  let done = 0
  for (const gap of before) {
    note(gap, gap.end.timeMs >= system.atMs - RECENT_MS ? ['baseline', 'recent'] : ['baseline'])
    if (++done % 5_000 === 0) yield
  }
  for (const gap of now) {
    note(gap, ['window'])
    if (++done % 5_000 === 0) yield
  }
  const board = new HintBoard()
  const squares = new Map<number, number>()
  const callees = findCallees(system.baseline, system.services.length)
  const slowed = new Map([...edges.values()].map(edge => [edge, slowness(edge)]))
  for (const [edge, { strength }] of slowed) {
    if (strength <= 0) continue
    const isQuickItself = answersOthers(edge, slowed, callees)
    for (const service of new Set([edge.from, edge.to])) {
      const weighed = service === edge.to && isQuickItself ? strength * OF_CALLER : strength
      squares.set(service, (squares.get(service) ?? 0) + weighed ** 2)
      board.add({
        service,
        strength: weighed,
        subject: `${edge.from} to ${edge.to}`,
        nature: 'fault',
        tell: () => tell(system, edge, { before, now }, weighed),
      })
    }
  }
  return board.findings(service => Math.sqrt(squares.get(service)!))
}

function* gapsOf({ requests }: ObservedPeriod): Generator<void, Gap[]> {
  const gaps: Gap[] = []
  let request = 0
  let done = 0
  for (const { records } of requests) {
    for (let at = 1; at < records.length; at++) {
      const start = records[at - 1]!
      const end = records[at]!
      gaps.push({ from: start.kind, to: end.kind, ms: end.timeMs - start.timeMs, end, request })
      if (++done % 5_000 === 0) yield
    }
    request++
  }
  return gaps
}

function* normsOf(gaps: readonly Gap[], kindCount: number): Generator<void, ReadonlyMap<number, Norm>> {
  const logs = new Map<number, number[]>()
  let done = 0
  for (const { from, to, ms } of gaps) {
    const key = from.id * kindCount + to.id
    const known = logs.get(key)
    if (known === undefined) logs.set(key, [Math.log(ms + NOISE_MS)])
    else known.push(Math.log(ms + NOISE_MS))
    if (++done % 5_000 === 0) yield
  }
  const norms = new Map<number, Norm>()
  for (const [key, values] of logs) {
    if (values.length < MIN_GAPS) continue
    const sorted = Float64Array.from(values).sort()
    const middle = quantile(sorted, 0.5)
    norms.set(key, { middle, spread: Math.max((quantile(sorted, 0.9) - middle) / Q90_OF_NORMAL, MIN_SPREAD) })
    done += values.length
    if (done > 5_000) {
      done = 0
      yield
    }
  }
  return norms
}

interface Slowed {
  /** How much slower an edge is in the window than before, in deviations of its mean; 0 where either has no request. */
  readonly strength: number
  /** The same of a request, in deviations of one. */
  readonly shift: number
}

/** Whether all others that call the service which an edge leads to come there as quickly as ever: then the time is lost before. */
function answersOthers(edge: Edge, slowed: ReadonlyMap<Edge, Slowed>, { mayCall }: Callees): boolean {
  if (edge.from === edge.to) return false
  const others = [...slowed.keys()].filter(({ from, to }) => to === edge.to && from !== edge.from && mayCall(from, to))
  return areQuick(others, edge, slowed)
}

function areQuick(others: readonly Edge[], edge: Edge, slowed: ReadonlyMap<Edge, Slowed>): boolean {
  const requests = others.reduce((sum, { window }) => sum + window.size, 0)
  const shift = others.reduce((sum, other) => sum + slowed.get(other)!.shift * other.window.size, 0) / requests
  return requests >= MIN_OTHERS && shift <= AS_QUICK * slowed.get(edge)!.shift
}

function slowness({ baseline, recent, window }: Edge): Slowed {
  if (window.size === 0 || baseline.size === 0) return { strength: 0, shift: 0 }
  const before = meansOf(baseline)
  const now = meansOf(window)
  const lately = meansOf(recent)
  const usual = mean(before)
  const expected = Math.max(
    usual,
    ((lately.length === 0 ? 0 : mean(lately) * lately.length) + PRIOR_TRACES * usual) / (lately.length + PRIOR_TRACES),
  )
  const spread = Math.max(deviation(before), MIN_DEVIATION) * (1 + PRIOR_TRACES / before.length)
  const shift = (mean(now) - expected) / spread
  return { strength: Math.min(shift / Math.sqrt(1 / now.length + 1 / (lately.length + PRIOR_TRACES)), MAX_EDGE), shift }
}

function meansOf(byRequest: ByRequest): readonly number[] {
  return [...byRequest.values()].map(({ sum, count }) => sum / count)
}

interface Gaps {
  readonly before: readonly Gap[]
  readonly now: readonly Gap[]
}

function tell({ services }: ObservedSystem, edge: Edge, { before, now }: Gaps, strength: number) {
  const slowest = slowestPair(edge, before, now)
  const where = edge.from === edge.to ? `within ${services[edge.from]}` : `from ${services[edge.from]} to ${services[edge.to]}`
  const { msBefore, msNow, samples } = slowest
  return {
    kind: 'delay' as const,
    strength,
    text: `slower ${where}: ${duration(msNow)} between records of a trace (median of ${samples.length}), ${duration(msBefore)} before`,
    samples: () => samples,
  }
}

/** The pair of statements of an edge that lost the most time in all. */
function slowestPair(edge: Edge, before: readonly Gap[], now: readonly Gap[]) {
  const pairs = new Map<string, { readonly before: number[]; readonly now: Gap[] }>()
  const pairOf = ({ from, to }: Gap) => {
    const key = `${from.id} ${to.id}`
    const pair = entryOf(pairs, key, () => ({ before: [], now: [] }))
    return pair
  }
  const isOfEdge = ({ from, to }: Gap) => from.service === edge.from && to.service === edge.to
  for (const gap of before) if (isOfEdge(gap)) pairOf(gap).before.push(gap.ms)
  for (const gap of now) if (isOfEdge(gap)) pairOf(gap).now.push(gap)
  let slowest = { msBefore: 0, msNow: 0, lost: Number.NEGATIVE_INFINITY, samples: [] as readonly ObservedRecord[] }
  for (const pair of pairs.values()) {
    if (pair.before.length < MIN_GAPS || pair.now.length === 0) continue
    const msBefore = median(pair.before)
    const msNow = median(pair.now.map(({ ms }) => ms))
    const lost = (msNow - msBefore) * pair.now.length
    if (lost <= slowest.lost) continue
    const samples = pair.now.toSorted((a, b) => b.ms - a.ms).map(({ end }) => end)
    slowest = { msBefore, msNow, lost, samples }
  }
  return slowest
}
