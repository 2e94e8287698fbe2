/** JSON whose numbers keep their digits where a double would change them. */

const raw = JSON as unknown as { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean }

/** Text that may hold such a number; most has none, and is parsed at full speed. */
const LONG_NUMBER = /\d{16}/
const WHOLE = /^-?\d+$/

type Keep = (digits: string) => unknown

function parseNumbers(text: string, isKept: (value: number, digits: string) => boolean, keep: Keep): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' && source !== undefined && isKept(value, source) ? keep(source) : value) as (
    key: string,
    value: unknown,
  ) => unknown)
}

const isLarge = (value: number, digits: string): boolean => !Number.isSafeInteger(value) && WHOLE.test(digits)

/** For what is written again: numbers beyond 2^53, and `1.0`, are objects of their own that `JSON.stringify` shows as they came. */
export function parseExact(text: string): unknown {
  if (!LONG_NUMBER.test(text) && !/\.\d*0\s*[,\]}]/.test(text)) return JSON.parse(text)
  return parseNumbers(text, (value, digits) => String(value) !== digits, raw.rawJSON)
}

/** Text that may hold a whole number written as a fraction, `1.0` or `1e3`. */
const WRITTEN_AS_FRACTION = /\d(?:\.0+|(?:\.\d+)?[eE][+-]?\d+)\s*[,\]}]/

/** Whole numbers that are written as fractions, `1.0`, are `Number` objects: a new field of theirs holds fractions. */
export function parseFractions(text: string): unknown {
  if (!WRITTEN_AS_FRACTION.test(text)) return JSON.parse(text)
  return parseNumbers(
    text,
    (value, digits) => Number.isInteger(value) && !WHOLE.test(digits),
    digits => new Number(digits),
  )
}

/** Whole numbers beyond 2^53 are `bigint`. */
export function parseBigInts(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseNumbers(text, isLarge, BigInt) : JSON.parse(text)
}

/** Whole numbers beyond 2^53 are texts, which queries take as numbers. */
export function parseLongDigits(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseNumbers(text, isLarge, digits => digits) : JSON.parse(text)
}

/** A number of `parseExact`: no object to look into. */
export const isRawNumber = (value: unknown): boolean => raw.isRawJSON(value)

/** A number for `JSON.stringify`, with all its digits. */
export const rawNumber = (value: bigint): unknown => raw.rawJSON(String(value))
