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

/** A number whose text a double would write otherwise: `1.10`, `9007199254740993`. It is that number, and its text is what was written. */
export class WrittenNumber extends Number {
  readonly text: string

  constructor(text: string) {
    super(text)
    this.text = text
  }

  override toString(): string {
    return this.text
  }

  get isWhole(): boolean {
    return WHOLE.test(this.text)
  }
}

/** Text that may hold such a number: long, with a zero at its end, with an exponent, very small, or `-0`. */
const WRITTEN_OTHERWISE = /[:[,]\s*(?:-0\s*[,\]}]|-?(?:[\d.]{16}|\d+\.\d*0\s*[,\]}]|\d+(?:\.\d+)?[eE]|0\.0{6}))/

/** Numbers that are written otherwise than a double writes them are a `WrittenNumber`: fields of texts hold what was written. */
export function parseWritten(text: string): unknown {
  if (!WRITTEN_OTHERWISE.test(text)) return JSON.parse(text)
  return parseNumbers(
    text,
    (value, digits) => String(value) !== digits,
    digits => new WrittenNumber(digits),
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
