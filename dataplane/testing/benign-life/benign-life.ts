/** A benign life of a system of 18 services, made up from a seed: days and nights with all that is usual in them. Outages may be put in between. */
import type { KnownOutage } from '../outages/outage-parts.ts'
import {
  type Behaviour,
  buildSystem,
  type Call,
  type Further,
  OUTAGE_AT_MS,
  type Outage,
  type RawRecord,
  type Role,
  randomOf,
} from '../outages/outage-system.ts'
import type { Habit } from './benign-habits.ts'
import * as habits from './benign-habits.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Records are made in parts of that length. */
const PART_MS = 30 * MINUTE_MS
/** A Tuesday, at midnight. */
export const LIFE_FROM_MS = Date.UTC(2026, 2, 3)
const NEW_SERVICE_FROM_MS = 10.5 * HOUR_MS

export interface LifeOptions {
  readonly seed: number
  readonly hasTraces: boolean
  readonly hours: number
  readonly outages?: readonly PlacedOutage[]
}

export interface PlacedOutage {
  readonly name: string
  readonly known: KnownOutage
  /** From the start of the life. */
  readonly atMs: number
}

/** An outage lasts so long. */
export const OUTAGE_MS = 4 * MINUTE_MS

/** Records in the order of their times, in parts. */
export function* liveOn({ seed, hasTraces, hours, outages = [] }: LifeOptions): Generator<readonly RawRecord[]> {
  const plan = planHabits(seed, hours)
  let late: RawRecord[] = []
  for (let part = 0; part * PART_MS < hours * HOUR_MS; part++) {
    const fromMs = part * PART_MS
    const toMs = fromMs + PART_MS
    const { records } = buildSystem(composed(plan, outages, fromMs, randomOf(seed * 7_919 + part)), {
      ...{ seed, hasTraces, part: part + 1, beforeMs: 0, windowMs: PART_MS, isCut: false },
      requestsPerMinute: requestsPerMinute(fromMs) * loadOf(plan, fromMs),
    })
    const shiftMs = LIFE_FROM_MS + fromMs - OUTAGE_AT_MS
    const all = [
      ...late,
      ...records.map(record => ({ ...record, timeMs: record.timeMs + shiftMs })),
      ...newService(fromMs, randomOf(seed * 104_729 + part)),
    ].sort((a, b) => a.timeMs - b.timeMs)
    const ended = all.findIndex(({ timeMs }) => timeMs >= LIFE_FROM_MS + toMs)
    late = ended < 0 ? [] : all.slice(ended)
    yield ended < 0 ? all : all.slice(0, ended)
  }
}

/** Least at four in the morning, most at four in the afternoon. */
export function requestsPerMinute(fromMs: number): number {
  return 14 - 9 * Math.cos(((fromMs / HOUR_MS - 4) / 24) * 2 * Math.PI)
}

function loadOf(plan: readonly Habit[], fromMs: number): number {
  return plan.find(({ load, fromMs: from }) => load !== undefined && from >= fromMs && from < fromMs + PART_MS)?.load ?? 1
}

const RELEASED: readonly Role[] = ['web', 'orders', 'stock', 'prices', 'payments', 'users', 'search', 'worker']

function planHabits(seed: number, hours: number): readonly Habit[] {
  const random = randomOf(seed * 15_485_863)
  const plan: Habit[] = []
  for (let hour = 0; hour < hours; hour++) {
    const at = hour * HOUR_MS
    const jittered = (ms: number) => at + ms + random() * 20 * SECOND_MS
    plan.push(
      habits.hourlyCleanup(jittered(0), random),
      habits.certificateCheck(jittered(17 * MINUTE_MS)),
      habits.hourlyImport(jittered(40 * MINUTE_MS)),
    )
    if (hour % 24 === 2) plan.push(habits.backup(jittered(5 * MINUTE_MS)))
    if (hour % 24 === 3) plan.push(habits.closeOfBooks(jittered(10 * MINUTE_MS)))
    if (hour % 24 === 6) plan.push(habits.certificateSoon(jittered(0)))
    if (hour % 3 === 1) plan.push(habits.slowCollection(jittered(random() * 50 * MINUTE_MS)))
  }
  for (let day = 0; day * 24 < hours; day++) {
    const dayMs = day * 24 * HOUR_MS
    const within = (fromHour: number, toHour: number) => dayMs + (fromHour + random() * (toHour - fromHour)) * HOUR_MS
    for (let count = 0; count < 4; count++)
      plan.push(habits.release(within(9, 18), RELEASED[Math.floor(random() * RELEASED.length)]!, 20 + day * 4 + count))
    for (let count = 0; count < 3; count++) plan.push(habits.scanner(within(0, 24)))
    plan.push(habits.wrongPasswords(within(0, 24)), habits.debugging(within(10, 16)), habits.drainOfNode(within(8, 20)))
    plan.push(habits.busyHour(dayMs + 12 * HOUR_MS + 2 * MINUTE_MS), habits.busyHour(dayMs + 19 * HOUR_MS + 2 * MINUTE_MS))
    for (let count = 0; count < 2; count++) plan.push(habits.weakThirdParty(within(0, 24)))
  }
  return plan
}

/** A part of the life: its habits, and the outages that begin in it. Times from the start of the part. */
function composed(plan: readonly Habit[], placed: readonly PlacedOutage[], fromMs: number, random: () => number): Outage {
  const active = plan.filter(habit => habit.toMs > fromMs && habit.fromMs < fromMs + PART_MS)
  const outages = placed.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + PART_MS)
  const at = (minute: number) => fromMs + minute * MINUTE_MS
  const during = (minute: number) => outages.find(({ atMs }) => at(minute) >= atMs && at(minute) < atMs + OUTAGE_MS)
  return {
    behave(role, call): Behaviour | undefined {
      const outage = during(call.minute)
      const minute = call.minute - ((outage?.atMs ?? 0) - fromMs) / MINUTE_MS
      const odd = outage?.known.outage.behave?.(role, { ...call, minute })
      if (odd !== undefined) return odd
      for (const { fromMs: from, toMs, behave } of active) {
        const sinceMs = at(call.minute) - from
        const habitual = sinceMs >= 0 && sinceMs < toMs - from ? behave?.(role, call, sinceMs) : undefined
        if (habitual !== undefined) return habitual
      }
      return habits.usualBehaviour(role, call as Call)
    },
    consumes(share, minute) {
      const outage = during(minute)
      return outage?.known.outage.consumes?.(share, minute - (outage.atMs - fromMs) / MINUTE_MS)
    },
    also: system => [
      ...active.flatMap(({ fromMs: from, lines }) =>
        shifted(lines(system), from - fromMs).filter(({ atMs }) => atMs >= 0 && atMs < PART_MS),
      ),
      ...outages.flatMap(({ atMs, known }) => shifted(known.outage.also?.(system) ?? [], atMs - fromMs)),
      ...habits.backgroundLines(PART_MS, random),
    ],
  }
}

function shifted(lines: readonly Further[], byMs: number): readonly Further[] {
  return lines.map(line => ({ ...line, atMs: line.atMs + byMs }))
}

/** A service that is added on the first day; its model is cold for ten minutes. */
function newService(fromMs: number, random: () => number): readonly RawRecord[] {
  const records: RawRecord[] = []
  for (let atMs = fromMs; atMs < fromMs + PART_MS; atMs += 5 * SECOND_MS) {
    const sinceMs = atMs - NEW_SERVICE_FROM_MS
    if (sinceMs < 0) continue
    const isCold = sinceMs < 10 * MINUTE_MS && random() < 0.3
    records.push({
      ...{ timeMs: LIFE_FROM_MS + atMs + random() * 4_000, service: 'recommendations', level: isCold ? 'WARN' : 'INFO' },
      message: isCold ? 'model is cold, the list of best sellers is given instead' : `recommended ${Math.floor(random() * 9)} articles`,
      ...{ traceId: '', spanId: '', pod: 'recommendations-5f7d9c6b8-q4z7x', node: 'ip-10-0-1-17' },
    })
  }
  return records
}
