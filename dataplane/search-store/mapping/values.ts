/** Values as fields hold them: text, number, truth, date. Refuses values that a field cannot hold. */
import { parseDateFormat } from '../dates/date-format.ts'
import { UTC } from '../dates/time-zone.ts'
import { WrittenNumber } from '../json/exact-numbers.ts'
import { DocumentRejected } from './document-rejected.ts'
import type { FieldMapping, FieldType } from './field-types.ts'
import { parseAddress } from './ip-address.ts'

/** A JSON leaf; null never gets here. */
export type Leaf = string | number | boolean | WrittenNumber

export const isNumberType = (type: FieldType) => type in NUMBER_BOUNDS

/** Inclusive bounds; beyond them OpenSearch refuses the document. */
const NUMBER_BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  long: [-(2 ** 63), 2 ** 63],
  integer: [-(2 ** 31), 2 ** 31 - 1],
  short: [-(2 ** 15), 2 ** 15 - 1],
  byte: [-128, 127],
  unsigned_long: [0, 2 ** 64],
  double: [-Number.MAX_VALUE, Number.MAX_VALUE],
  float: [-3.4028235677973366e38, 3.4028235677973366e38],
}
const WHOLE = new Set<FieldType>(['long', 'integer', 'short', 'byte', 'unsigned_long'])
const TOO_LONG = new Set<FieldType>(['long', 'unsigned_long'])

/** Whether a whole number lies within what a field of the type can hold; any number does for other types. */
export function fitsType(number: number, type: FieldType): boolean {
  const [low, high] = NUMBER_BOUNDS[type]!
  return !WHOLE.has(type) || (number >= low && number <= high)
}

/** The text under which a keyword field finds a value; lone surrogates become U+FFFD, as UTF-8 cannot hold them. */
export function keywordText(value: Leaf): string {
  return typeof value === 'string' ? value.toWellFormed() : String(value)
}

/** The part of a field that says which values it holds. */
export type NumberField = Pick<FieldMapping, 'type' | 'format' | 'nanos'>

/**
 * The number a numeric, boolean or date field keeps for a value: booleans 0 and 1, dates ms since the epoch.
 * Undefined: nothing to index (empty string). Throws DocumentRejected where OpenSearch would refuse.
 */
export function numberOf(path: string, { type, format, nanos }: NumberField, given: Leaf): number | undefined {
  const value = given instanceof WrittenNumber ? given.valueOf() : given
  if (type === 'boolean') return booleanOf(path, value)
  if (type === 'date') return dateOf(path, value, format, nanos)
  if (typeof value === 'boolean') {
    const token = `VALUE_${String(value).toUpperCase()}`
    throw refused(path, type, value, `Current token (${token}) not numeric, can not use numeric value accessors`, NOT_THE_JSON)
  }
  // OpenSearch reads texts as doubles, around which Java takes space, but for types that doubles do not hold.
  const text = typeof value === 'string' && !TOO_LONG.has(type) ? value.trim() : value
  if (text === '' && !(value !== '' && WHOLE.has(type))) return undefined
  const number = typeof text === 'number' ? text : isDecimal(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number))
    throw refused(path, type, value, `For input string: "${String(value)}"`, TOO_LONG.has(type) ? undefined : 'number_format_exception')
  const [low, high] = NUMBER_BOUNDS[type]!
  if (!(number >= low && number <= high) || ((number === low || number === high) && TOO_LONG.has(type) && isBeyond(type, String(given))))
    throw refused(path, type, value, outOfRange(type, String(given), number))
  if (type === 'float') return Math.fround(number)
  return WHOLE.has(type) ? Math.trunc(number) : number
}

/** The type of the cause where JSON of another type was given, as OpenSearch has it. */
const NOT_THE_JSON = 'json_parse_exception'

function outOfRange(type: FieldType, written: string, number: number): string {
  if (WHOLE.has(type)) return `Value [${written}] is out of range for ${type === 'unsigned_long' ? 'an unsigned long' : `a ${type}`}`
  return `[${type}] supports only finite values, but got [${number > 0 ? '' : '-'}Infinity]`
}

/** Whether the digits of a whole number are beyond what the type holds, where a double cannot tell. */
function isBeyond(type: FieldType, digits: string): boolean {
  if (!/^[+-]?\d+$/.test(digits)) return false
  const number = BigInt(digits.replace('+', ''))
  return type === 'long' ? BigInt.asIntN(64, number) !== number : BigInt.asUintN(64, number) !== number
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const isDecimal = (text: string) => DECIMAL.test(text)

function booleanOf(path: string, value: Leaf): number {
  if (value === true || value === 'true') return 1
  if (value === false || value === 'false' || value === '') return 0
  if (typeof value === 'number') throw refused(path, 'boolean', value, 'Current token (VALUE_NUMBER) not of boolean type', NOT_THE_JSON)
  throw refused(path, 'boolean', value, `Failed to parse value [${String(value)}] as only [true] or [false] are allowed.`)
}

function dateOf(path: string, value: Leaf, format: string | undefined, nanos: true | undefined): number {
  const ms = format === undefined ? usualDate(value) : (parseDateFormat(format).parse(String(value), false, UTC) ?? Number.NaN)
  if (Number.isNaN(ms) || Math.abs(ms) > 8.64e15 * 1000)
    throw refused(
      path,
      'date',
      value,
      `failed to parse date field [${String(value)}] with format [${format ?? 'strict_date_optional_time||epoch_millis'}]`,
    )
  if (nanos === true && (ms < 0 || ms > LAST_NANOS_MS))
    throw refused(
      path,
      'date_nanos',
      value,
      ms < 0
        ? `date[${String(value)}] is before the epoch in 1970 and cannot be stored in nanosecond resolution`
        : `date[${String(value)}] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution`,
    )
  return ms
}

/** The last date whose nanoseconds fit into 64 bits. */
const LAST_NANOS_MS = 9_223_372_036_854

const usualDate = (value: Leaf): number =>
  typeof value === 'number' ? Math.floor(value) : typeof value === 'string' ? parseDate(value) : Number.NaN

const ISO_DATE = /^(-?\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/
const EPOCH_MS = /^-?\d{1,19}(?:\.\d+)?$/

/** Milliseconds of `strict_date_optional_time||epoch_millis`; NaN when it is neither. Digits below the millisecond are dropped. */
export function parseDate(text: string): number {
  const match = ISO_DATE.exec(text)
  if (match === null) return EPOCH_MS.test(text) ? Math.floor(Number(text)) : Number.NaN
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return Number.NaN
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN
  const timeMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  return date.getTime() + timeMs - zoneOffsetMs(zone)
}

function zoneOffsetMs(zone: string): number {
  if (zone === 'Z') return 0
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))
  return (zone[0] === '-' ? -minutes : minutes) * 60_000
}

/** Whether a new string field becomes a date: not for pure numbers, which are too often no dates. */
export function looksLikeDate(text: string): boolean {
  if (text.length < 7 || !(text.charCodeAt(0) >= 0x30 && text.charCodeAt(0) <= 0x39) || isDecimal(text)) return false
  return ISO_DATE.test(text) && !Number.isNaN(parseDate(text))
}

/** Throws DocumentRejected for a value that an `ip` field cannot hold. */
export function checkAddress(path: string, value: Leaf): void {
  if (parseAddress(String(value)) === undefined) throw refused(path, 'ip', value, `'${String(value)}' is not an IP string literal.`)
}

function refused(
  path: string,
  type: FieldType | 'ip' | 'date_nanos',
  value: Leaf,
  reason: string,
  causeType = 'illegal_argument_exception',
): DocumentRejected {
  const preview = String(value).slice(0, 100)
  return new DocumentRejected(`failed to parse field [${path}] of type [${type}]. Preview of field's value: '${preview}'`, undefined, {
    causedBy: { type: causeType, reason },
  })
}
