/**
 * Writes a double with the fewest digits that read back as the same double, as `String` does, which takes three times as long: it makes a string
 * and keeps it. Digits come in groups of six from the fraction, whose two halves are multiplied without any rounding.
 */
import { ZERO } from '../../json/bytes.ts'
import { PAIRS } from './json-writer.ts'
import { NOT_PLAIN } from './put-json.ts'

const MINUS = 0x2d
const POINT = 0x2e
/** Exponents of the numbers from 2^-7 to below 2^31: three groups hold the digits of any fraction, and the whole part is a word. */
const LEAST_EXPONENT = -7
const EXPONENTS = 38
const EXPONENT_BIAS = 1023
/** Half of the distance to the next double, by exponent. */
const HALF_STEPS = Float64Array.from({ length: EXPONENTS }, (_, i) => 2 ** (i + LEAST_EXPONENT - 53))
const GROUP = 1_000_000
const GROUP_DIGITS = 6
const POWERS = Int32Array.from({ length: GROUP_DIGITS }, (_, i) => 10 ** i)
/** Comparisons of rounded sums are left to `String` where less than this share decides. */
const TOO_CLOSE = 1e-8

/** The double at `from`; `NOT_PLAIN` for what is left to `String`: very large and small ones, powers of two, zero, and what is no number. */
export function putDouble(input: DataView, from: number, out: DataView, at: number): number {
  const high = input.getUint32(from + 4, true)
  const exponent = ((high >>> 20) & 0x7ff) - EXPONENT_BIAS - LEAST_EXPONENT
  if (exponent < 0 || exponent >= EXPONENTS || ((high & 0xfffff) === 0 && input.getUint32(from, true) === 0)) return NOT_PLAIN
  const value = Math.abs(input.getFloat64(from, true))
  let to = at
  if (high >= 0x80000000) out.setUint8(to++, MINUS)
  const whole = Math.floor(value)
  to = putWhole(whole, out, to)
  const fraction = value - whole
  if (fraction === 0) return to
  out.setUint8(to++, POINT)
  // The upper part has 31 bits behind the point, six fewer after each group; the lower part is less than its last bit.
  let step = 2 ** 31
  let upper = Math.floor(fraction * step) / step
  let lower = fraction - upper
  let half = HALF_STEPS[exponent]!
  for (let i = 0; i < 3; i++) {
    step /= 64
    const rest = lower * GROUP
    const carried = Math.floor(rest * step) / step
    const sum = upper * GROUP + carried
    const group = Math.floor(sum)
    upper = sum - group
    lower = rest - carried
    half *= GROUP
    const behind = upper + lower
    const ahead = 1 - upper - lower
    // Whether the digits so far, or these with one more at the last place, read back as the value.
    if (behind < half || ahead < half) return putLast(group, behind, ahead, half, out, to)
    to = putSix(group, out, to)
  }
  return NOT_PLAIN
}

/** The last group, as short as it can be; `behind` is its distance from the value, `ahead` that of the next number of so many digits. */
function putLast(group: number, behind: number, ahead: number, half: number, out: DataView, at: number): number {
  for (let left = GROUP_DIGITS - 1; left >= 0; left--) {
    const power = POWERS[left]!
    const digits = (group / power) | 0
    const dropped = group - digits * power
    const below = dropped + behind
    const above = power - 1 - dropped + ahead
    const nearer = Math.min(below, above)
    if (Math.abs(nearer - half) < TOO_CLOSE * half) return NOT_PLAIN
    if (nearer > half) continue
    if (Math.abs(below - above) < TOO_CLOSE) return NOT_PLAIN
    return putPadded(below < above ? digits : digits + 1, GROUP_DIGITS - left, out, at)
  }
  return NOT_PLAIN
}

function putSix(value: number, out: DataView, at: number): number {
  const upper = (value / 10_000) | 0
  const lower = value - upper * 10_000
  const middle = (lower / 100) | 0
  out.setUint16(at, PAIRS[upper]!, true)
  out.setUint16(at + 2, PAIRS[middle]!, true)
  out.setUint16(at + 4, PAIRS[lower - middle * 100]!, true)
  return at + GROUP_DIGITS
}

/** With zeros in front. */
function putPadded(value: number, width: number, out: DataView, at: number): number {
  let rest = value
  for (let i = at + width - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0
    out.setUint8(i, ZERO + rest - tenth * 10)
    rest = tenth
  }
  return at + width
}

/** Below 2^31. */
function putWhole(value: number, out: DataView, at: number): number {
  let width = 1
  for (let bound = 10; width < 10 && value >= bound; bound *= 10) width++
  return putPadded(value, width, out, at)
}
