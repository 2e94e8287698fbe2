/** The words of findings in the reasons of an anomaly. */

import { shortened } from '../../../text/shortened.ts'
import type { Shift } from './shift.ts'

const MAX_WORDS = 80

const quoted = (words: string) => `"${shortened(words, MAX_WORDS)}"`
const percent = (share: number) => `${Math.round(share * 1_000) / 10} %`
const rounded = (value: number) => Math.round(value * 10) / 10

export function describeErrors({ now, before }: Shift): string {
  return `${percent(now)} of the records are errors, ${percent(before)} before`
}

export function describeProblemRate(words: string, { now, before, of }: Shift): string {
  const count = `${quoted(words)} came ${Math.round(now * of)} times in a minute`
  return before === 0 ? `${count}, never before` : `${count}, ${rounded(before * of)} expected`
}

export function describeMissing(words: string, first: string, { now, before, of }: Shift): string {
  return `${quoted(words)} in ${Math.round(now * of)} of ${of} visits that begin with ${quoted(first)}, in ${percent(before)} before`
}

export function describeDelay(from: string, to: string, { now, before, of }: Shift): string {
  return `slower from ${quoted(from)} to ${quoted(to)}: ${of} pauses, ${rounded(now - before)} deviations longer than usual`
}

export function describeSilence(slots: number, before: number): string {
  const minutes = slots === 2 ? '1 minute' : `${slots / 2} minutes`
  return `no record for ${minutes} while others of the tenant go on; ${rounded(before * slots)} expected`
}
