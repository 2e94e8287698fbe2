/**
 * How far the judged minute lies from the time before it, in standard deviations; positive where it has more. The spread is that which the slots
 * before had among each other, where this is more than chance alone (Decisions 5).
 */
import { logLikelihood } from '../../root-cause/detectors/statistics.ts'
import { deviationsOf } from './signal.ts'
import { baselineFrom, JUDGED_SLOTS, judgedFrom, type SlotTable } from './slots.ts'

export interface Shift {
  readonly strength: number
  /** Units of the judged minute. */
  readonly of: number
  /** Share or mean of a unit, before and now. */
  readonly before: number
  readonly now: number
}

/** Units that the time before must hold, and the judged minute. */
const MIN_UNITS_BEFORE = 30
const MIN_UNITS_NOW = 5

/** Whether a change is of a kind that is looked at; asked before its strength is known, which takes longer to tell. */
export interface Matters {
  /** By the judged minute alone, which is soon known: its share or mean, and its units. */
  readonly may: (now: number, of: number) => boolean
  readonly does: (shift: Omit<Shift, 'strength'>) => boolean
}

/** Sums, and the units that they are a share or a mean of, as seen when `open` is the newest slot. */
export interface Compared {
  readonly table: SlotTable
  readonly sums: number
  readonly units: number
  readonly open: number
}

/** The shift of the share that `sums` is of `units`; undefined where there are too few units, or the shift does not matter. */
export function shareShift({ table, sums, units, open }: Compared, matters: Matters): Shift | undefined {
  const nNow = table.sum(units, judgedFrom(open), open)
  if (nNow < MIN_UNITS_NOW) return undefined
  const xNow = table.sum(sums, judgedFrom(open), open)
  if (!matters.may(xNow / nNow, nNow)) return undefined
  const nBefore = table.sum(units, baselineFrom(open), judgedFrom(open))
  if (nBefore < MIN_UNITS_BEFORE) return undefined
  const xBefore = table.sum(sums, baselineFrom(open), judgedFrom(open))
  const share = (xNow + xBefore) / (nNow + nBefore)
  if (share <= 0 || share >= 1) return undefined
  const before = xBefore / nBefore
  const now = xNow / nNow
  if (!matters.does({ of: nNow, before, now })) return undefined
  const g = 2 * (logLikelihood(xNow, nNow, share) + logLikelihood(xBefore, nBefore, share))
  const usual = Math.min(Math.max(before, 0.5 / nBefore), 1 - 0.5 / nBefore)
  const spread = spreadBefore({ table, sums, units, open }, usual, usual * (1 - usual))
  return { strength: Math.sign(now - before) * Math.sqrt(Math.max(g, 0) / spread), of: nNow, before, now }
}

/** The shift of the mean of values with a variance of about 1, from their sums and their number. */
export function meanShift({ table, sums, units, open }: Compared, matters: Matters): Shift | undefined {
  const nNow = table.sum(units, judgedFrom(open), open)
  if (nNow < MIN_UNITS_NOW) return undefined
  const now = table.sum(sums, judgedFrom(open), open) / nNow
  if (!matters.may(now, nNow)) return undefined
  const nBefore = table.sum(units, baselineFrom(open), judgedFrom(open))
  if (nBefore < MIN_UNITS_BEFORE) return undefined
  const before = table.sum(sums, baselineFrom(open), judgedFrom(open)) / nBefore
  if (!matters.does({ of: nNow, before, now })) return undefined
  const spread = spreadBefore({ table, sums, units, open }, before, 1)
  return { strength: (now - before) / Math.sqrt(spread * (1 / nNow + 1 / nBefore) + MINUTES_DIFFER ** 2), of: nNow, before, now }
}

/** Deviation that means of two minutes have from each other at the least: a time before that was quieter than usual. */
const MINUTES_DIFFER = 0.3

/**
 * The shift of a series that came in most slots before and in none of the last `slots`, which were expected to have `share` of the usual count.
 * The strength says how unlikely a count of 0 is. Counts that vary more than chance has it are taken as a negative binomial distribution.
 */
export function silenceShift(table: SlotTable, series: number, open: number, slots: number, share = 1): Shift {
  const from = baselineFrom(open)
  const to = open - slots
  const mean = table.sum(series, from, to) / (to - from)
  let squares = 0
  for (let slot = from; slot < to; slot++) squares += (table.at(series, slot) - mean) ** 2
  const spread = squares / (to - from - 1) / Math.max(mean, 0.1)
  const logTail = -share * mean * slots * (spread > 1.001 ? Math.log(spread) / (spread - 1) : 1)
  return { strength: -deviationsOf(logTail), of: slots, before: mean, now: 0 }
}

/** How much more the slots before differ from each other than units of that variance would have it; at least 1. */
function spreadBefore({ table, sums, units, open }: Compared, usual: number, variance: number): number {
  let chiSquare = 0
  let slots = 0
  for (let slot = baselineFrom(open); slot < open - JUDGED_SLOTS; slot++) {
    const n = table.at(units, slot)
    if (n === 0) continue
    slots++
    chiSquare += (table.at(sums, slot) - n * usual) ** 2 / (n * variance)
  }
  return slots < 2 ? 1 : Math.max(1, chiSquare / (slots - 1))
}
