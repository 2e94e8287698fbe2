import { isDeeperThan, MAX_VALUE_DEPTH } from '../../json/depth.ts'

/** A number that was written with a fraction or an exponent and is a whole one: `2.0` stays a double, as its neighbours `1.5` are. */
export class WholeDouble {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** Texts in which a number may stand that `JSON.parse` alone would change: of many digits, or a whole one written as a double. */
const SPECIAL_NUMBER = /\d{16}|\d\.0+(?!\d)|\d[eE]/

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown

const keepNumbers: Reviver = (_key, value, { source }) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return value
  if (/[.eE]/.test(source)) return new WholeDouble(value)
  return Number.isSafeInteger(value) ? value : BigInt(source)
}

const utf8 = new TextDecoder()

/** One entry of an upload, its numbers without loss: integers beyond 2^53 are bigints. Bytes that are not UTF-8 become U+FFFD. */
export function parseEntry(bytes: Uint8Array): { readonly entry: Readonly<Record<string, unknown>> } | { readonly problem: string } {
  if (isDeeperThan(bytes, MAX_VALUE_DEPTH)) return { problem: `expected at most ${MAX_VALUE_DEPTH} levels of nesting, seen more` }
  const text = utf8.decode(bytes)
  let value: unknown
  try {
    value = SPECIAL_NUMBER.test(text) ? JSON.parse(text, keepNumbers as Parameters<typeof JSON.parse>[1]) : JSON.parse(text)
  } catch (error) {
    return { problem: `not JSON: ${(error as Error).message}` }
  }
  const kind = kindOf(value)
  return kind === 'object' ? { entry: value as Readonly<Record<string, unknown>> } : { problem: `expected an object, seen ${kind}` }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof WholeDouble || typeof value === 'bigint') return 'a number'
  return typeof value === 'object' ? 'object' : `a ${typeof value}`
}
