/** Reads JSON of unknown form, refusing with the name of the part that is wrong. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { illegalArgument, parsingError } from '../api-error.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** The kind of a value, for messages: `string`, `array`, `null` … */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function readObject(value: unknown, where: string): JsonObject {
  if (isJsonObject(value)) return value
  throw parsingError(`[${where}] must be an object, found ${kindOf(value)}`)
}

/** The one member of an object such as `{ "term": { … } }`. */
export function readSingleEntry(value: unknown, where: string): readonly [string, unknown] {
  const entries = Object.entries(readObject(value, where))
  if (entries.length === 1) return entries[0]!
  throw parsingError(`[${where}] must hold exactly one member, found ${entries.length}: ${entries.map(e => `[${e[0]}]`).join(', ')}`)
}

export function readString(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw parsingError(`[${where}] must be a string, found ${kindOf(value)}`)
}

/** A string, or a number or boolean as its text: the scalars that queries accept as a value. */
export function readScalar(value: unknown, where: string): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  throw parsingError(`[${where}] must be a string, number or boolean, found ${kindOf(value)}`)
}

export function readBoolean(value: unknown, where: string): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === '') return true
  if (value === 'false') return false
  throw illegalArgument(
    `Failed to parse value [${kindOf(value) === 'string' ? value : kindOf(value)}] of [${where}] as only [true] or [false] are allowed.`,
  )
}

export function optionalBoolean(content: JsonObject, key: string, otherwise = false): boolean {
  return content[key] === undefined ? otherwise : readBoolean(content[key], key)
}

export function readNumber(value: unknown, where: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw parsingError(`[${where}] must be a number, found ${typeof value === 'string' ? `[${value}]` : kindOf(value)}`)
}

export function readInteger(value: unknown, where: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const number = readNumber(value, where)
  if (!Number.isInteger(number)) throw parsingError(`[${where}] must be an integer, found [${number}]`)
  if (number < min || number > max) throw illegalArgument(`[${where}] must be between ${min} and ${max}, found [${number}]`)
  return number
}

export function readArray(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw parsingError(`[${where}] must be an array, found ${kindOf(value)}`)
}

export function readStrings(value: unknown, where: string): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(item => readString(item, where))
}

export function refuseUnknown(body: JsonObject, where: string, known: readonly string[]): void {
  for (const key of Object.keys(body)) if (!known.includes(key)) throw parsingError(`[${where}] does not support [${key}]`)
}

/** Lists of names, written as a text with spaces between them. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/)
