/** Which scalars proto3's JSON mapping takes where OTLP says integer or bytes. */

export interface IntegerRange {
  readonly min: bigint
  /** The least value that is kept; values below it, down to `min`, become it. */
  readonly least?: bigint
  readonly max: bigint
  /** A number of this many decimal digits is within range. */
  readonly plainDigits: number
  readonly expected: string
  /** Writes a value that did not stand in its plain form. */
  readonly write: (decimal: string) => string
}

const asNumber = (decimal: string) => decimal
const asString = (decimal: string) => `"${decimal}"`

/** Unsigned; a negative time, as some loggers write their zero time, is taken for 0: unknown. */
export const TIME: IntegerRange = {
  min: -(2n ** 63n),
  least: 0n,
  max: 2n ** 64n - 1n,
  plainDigits: 19,
  expected: 'an unsigned 64-bit integer',
  write: asString,
}
export const INT64: IntegerRange = {
  min: -(2n ** 63n),
  max: 2n ** 63n - 1n,
  plainDigits: 18,
  expected: 'a 64-bit integer',
  write: asString,
}
export const UINT32: IntegerRange = {
  min: 0n,
  max: 2n ** 32n - 1n,
  plainDigits: 9,
  expected: 'an unsigned 32-bit integer',
  write: asNumber,
}
export const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n, plainDigits: 9, expected: 'a 32-bit integer', write: asNumber }

const DECIMAL = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** More digits than any 64-bit integer has, fractions and exponents included. */
const MAX_DIGITS = 400

/** The integer that a decimal text such as `1.5e3` stands for; undefined when it is none, or out of range. */
export function canonicalInteger(text: string, range: IntegerRange): string | undefined {
  const match = text.length <= MAX_DIGITS ? DECIMAL.exec(text) : null
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const value = integerOf(whole + fraction, Number(exponent) - fraction.length)
  if (value === undefined) return undefined
  const signed = sign === '-' ? -value : value
  if (signed < range.min || signed > range.max) return undefined
  return (range.least !== undefined && signed < range.least ? range.least : signed).toString()
}

/** `digits` × 10^`power`, when that is an integer of less than 64 digits. */
function integerOf(digits: string, power: number): bigint | undefined {
  const significant = digits.replace(/^0+/, '')
  if (significant === '') return 0n
  if (power >= 0) return significant.length + power < 64 ? BigInt(significant) * 10n ** BigInt(power) : undefined
  const whole = significant.slice(0, power)
  return /^0*$/.test(significant.slice(power)) && whole !== '' ? BigInt(whole) : undefined
}

/** Standard or URL alphabet, with or without padding. */
export function isBase64(text: string): boolean {
  return /^[\w+/-]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
}
