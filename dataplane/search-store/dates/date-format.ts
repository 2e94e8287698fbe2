/** Date formats as OpenSearch names them, and Java patterns such as `yyyy-MM-dd HH:mm`. */
import { illegalArgument } from '../api-error.ts'
import { daysInMonth } from './calendar.ts'
import { localToUtc, parseTimeZone, type TimeZone, utcOf } from './time-zone.ts'

export interface DateFormat {
  readonly name: string
  /** Undefined when the text does not have this format. `roundUp` fills a missing time of day with its last instant; a missing month or day is the first. */
  parse(text: string, roundUp: boolean, zone: TimeZone): number | undefined
  print(utcMs: number, zone: TimeZone): string
}

const NAMED_PATTERNS: Readonly<Record<string, string>> = {
  date: 'yyyy-MM-dd',
  strict_date: 'yyyy-MM-dd',
  year_month_day: 'yyyy-MM-dd',
  strict_year_month_day: 'yyyy-MM-dd',
  year_month: 'yyyy-MM',
  strict_year_month: 'yyyy-MM',
  year: 'yyyy',
  strict_year: 'yyyy',
  basic_date: 'yyyyMMdd',
  basic_date_time: "yyyyMMdd'T'HHmmss.SSSXX",
  date_time: "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
  strict_date_time: "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
  date_time_no_millis: "yyyy-MM-dd'T'HH:mm:ssXXX",
  strict_date_time_no_millis: "yyyy-MM-dd'T'HH:mm:ssXXX",
  date_hour_minute_second: "yyyy-MM-dd'T'HH:mm:ss",
  strict_date_hour_minute_second: "yyyy-MM-dd'T'HH:mm:ss",
  date_hour_minute: "yyyy-MM-dd'T'HH:mm",
  hour_minute_second: 'HH:mm:ss',
  hour_minute: 'HH:mm',
}

const ISO = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(?:(\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?)?$/

/** The instant of calendar fields; undefined for a 13th month, a 30th of February and the like. */
function instantOf(fields: Readonly<Record<string, string | undefined>>, roundUp: boolean, zone: TimeZone): number | undefined {
  const part = (name: string, low: number, high: number): number =>
    fields[name] === undefined ? (roundUp ? high : low) : Number(fields[name])
  const year = part('y', 1970, 1970)
  const month = part('M', 1, 1)
  if (month < 1 || month > 12) return undefined
  const last = daysInMonth(year, month)
  const day = part('d', 1, 1)
  const hour = part('H', 0, 23)
  const minute = part('m', 0, 59)
  const second = part('s', 0, 59)
  const ms = fields['S'] === undefined ? (roundUp ? 999 : 0) : Number(fields['S'].padEnd(3, '0').slice(0, 3))
  if (day < 1 || day > last || hour > 23 || minute > 59 || second > 59) return undefined
  return localToUtc(utcOf(year, month, day, hour, minute, second, ms), fields['X'] === undefined ? zone : parseTimeZone(fields['X']))
}

const isoFormat: DateFormat = {
  name: 'strict_date_optional_time',
  parse: (text, roundUp, zone) => {
    const match = ISO.exec(text)
    if (match === null) return undefined
    const [, y, M, d, H, m, s, S, X] = match
    return instantOf({ y, M, d, H, m, s, S, X }, roundUp, zone)
  },
  print: (utcMs, zone) => printIso(utcMs, zone),
}

function printIso(utcMs: number, zone: TimeZone): string {
  const offset = zone.offsetMs(utcMs)
  const local = new Date(utcMs + offset)
  if (Number.isNaN(local.getTime())) return String(utcMs)
  // Years beyond four digits have no more digits than they need.
  const text = local.toISOString().replace(/^([+-])0+(?=\d{4,}-)/, (_match, sign) => sign)
  return offset === 0 ? text : `${text.slice(0, -1)}${printOffset(offset, ':')}`
}

function printOffset(offsetMs: number, separator: string): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`
}

/** No date that JavaScript can hold lies beyond. */
const LAST_DAY_MS = 8.64e15

function epochFormat(name: string, unitMs: number): DateFormat {
  return {
    name,
    // Another zone than UTC moves such a date, too, as it does one that is written out.
    parse: (text, _roundUp, zone) => {
      if (!/^-?\d{1,16}(\.\d{1,9})?$/.test(text)) return undefined
      const ms = Math.floor(Number(text) * unitMs)
      return localToUtc(Math.max(-LAST_DAY_MS, Math.min(LAST_DAY_MS, ms)), zone)
    },
    print: utcMs => (unitMs === 1 ? String(utcMs) : String(utcMs / unitMs)),
  }
}

const BUILT_IN: Readonly<Record<string, DateFormat>> = {
  strict_date_optional_time: isoFormat,
  date_optional_time: isoFormat,
  strict_date_optional_time_nanos: isoFormat,
  iso8601: isoFormat,
  epoch_millis: epochFormat('epoch_millis', 1),
  epoch_second: epochFormat('epoch_second', 1000),
}

/** Pattern letter → digits it may hold when it stands alone. */
const LETTERS: Readonly<Record<string, string>> = { y: 'y', u: 'y', M: 'M', d: 'd', H: 'H', m: 'm', s: 's', S: 'S', X: 'X', x: 'X', Z: 'X' }
const PATTERN_LIMIT = 100
/** Formats of one text, with `||` between. */
const FORMATS_LIMIT = 50

interface PatternPiece {
  /** Canonical letter, or undefined for literal text. */
  readonly letter: string | undefined
  readonly text: string
}

function piecesOf(pattern: string): readonly PatternPiece[] {
  if (pattern.length > PATTERN_LIMIT)
    throw illegalArgument(`Invalid format: [${pattern.slice(0, PATTERN_LIMIT)}…] is longer than ${PATTERN_LIMIT}`)
  const pieces: PatternPiece[] = []
  for (const [piece] of pattern.matchAll(/'[^']*'|([a-zA-Z])\1*|[^a-zA-Z']+/g)) {
    const first = piece[0]!
    if (first === "'") pieces.push({ letter: undefined, text: piece === "''" ? "'" : piece.slice(1, -1) })
    else if (!/[a-zA-Z]/.test(first)) pieces.push({ letter: undefined, text: piece })
    else if (Object.hasOwn(LETTERS, first)) pieces.push({ letter: LETTERS[first]!, text: piece })
    else throw illegalArgument(`Invalid format: [${pattern}]: pattern letter [${first}] is not supported by the embedded search store`)
  }
  refuseAmbiguous(pattern, pieces)
  return pieces
}

/** Digits can be divided among several pieces of any width in more ways than can be tried. */
function refuseAmbiguous(pattern: string, pieces: readonly PatternPiece[]): void {
  const letters = pieces.flatMap(piece => (isOfAnyWidth(piece) ? [piece.letter] : []))
  const twice = letters.find((letter, at) => letters.indexOf(letter) < at)
  if (twice !== undefined) throw illegalArgument(`Invalid format: [${pattern}]: pattern letter [${twice}] stands twice without a width`)
}

function isOfAnyWidth({ letter, text }: PatternPiece): boolean {
  return letter === 'S' || letter === 'X' || (letter !== undefined && letter !== 'y' && text.length === 1)
}

function patternFormat(name: string, pattern: string): DateFormat {
  const pieces = piecesOf(pattern)
  const letters = pieces.filter(piece => piece.letter !== undefined).map(piece => piece.letter!)
  const regex = new RegExp(`^${pieces.map(regexOfPiece).join('')}$`)
  return {
    name,
    parse: (text, roundUp, zone) => {
      const match = regex.exec(text)
      if (match === null) return undefined
      const fields: Record<string, string | undefined> = {}
      letters.forEach((letter, at) => {
        fields[letter] = match[at + 1]
      })
      return instantOf(fields, roundUp, zone)
    },
    print: (utcMs, zone) => {
      const offset = zone.offsetMs(utcMs)
      const local = new Date(utcMs + offset)
      if (Number.isNaN(local.getTime())) return String(utcMs)
      return pieces.map(piece => (piece.letter === undefined ? piece.text : printPiece(piece.letter, piece.text, local, offset))).join('')
    },
  }
}

function regexOfPiece(piece: PatternPiece): string {
  if (piece.letter === undefined) return piece.text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
  if (piece.letter === 'X') return '(Z|[+-]\\d{2}(?::?\\d{2})?)'
  if (piece.letter === 'S') return `(\\d{1,9})`
  if (piece.letter === 'y') return piece.text.length === 2 ? '(\\d{2})' : '(\\d{4})'
  return piece.text.length === 1 ? '(\\d{1,2})' : '(\\d{2})'
}

const GETTERS: Readonly<Record<string, (date: Date) => number>> = {
  y: date => date.getUTCFullYear(),
  M: date => date.getUTCMonth() + 1,
  d: date => date.getUTCDate(),
  H: date => date.getUTCHours(),
  m: date => date.getUTCMinutes(),
  s: date => date.getUTCSeconds(),
}

function printPiece(letter: string, text: string, local: Date, offsetMs: number): string {
  if (letter === 'X')
    return offsetMs === 0 && text.startsWith('X') ? 'Z' : printOffset(offsetMs, text.length >= 3 || text === 'ZZ' ? ':' : '')
  if (letter === 'S') return String(local.getUTCMilliseconds()).padStart(3, '0').padEnd(text.length, '0').slice(0, text.length)
  const number = GETTERS[letter]!(local)
  const digits = String(number).padStart(letter === 'y' ? 4 : text.length, '0')
  if (letter !== 'y') return digits
  if (text.length === 2) return digits.slice(-2)
  return text.length >= 4 && number > 9999 ? `+${digits}` : digits
}

const cache = new Map<string, DateFormat>()
const CACHE_LIMIT = 200

/** A format such as `strict_date_optional_time||epoch_millis`; printing uses the first. Throws 400 for an unknown one. */
export function parseDateFormat(text: string): DateFormat {
  const known = cache.get(text)
  if (known !== undefined) return known
  const names = text.split('||')
  if (names.length > FORMATS_LIMIT) throw illegalArgument(`Invalid format: at most ${FORMATS_LIMIT} formats, found ${names.length}`)
  const formats = names.map(name => {
    if (Object.hasOwn(BUILT_IN, name)) return BUILT_IN[name]!
    return patternFormat(name, Object.hasOwn(NAMED_PATTERNS, name) ? NAMED_PATTERNS[name]! : name)
  })
  const format: DateFormat = {
    name: text,
    parse: (value, roundUp, zone) => {
      for (const one of formats) {
        const ms = one.parse(value, roundUp, zone)
        if (ms !== undefined) return ms
      }
      return undefined
    },
    print: (utcMs, zone) => formats[0]!.print(utcMs, zone),
  }
  if (cache.size >= CACHE_LIMIT) cache.clear()
  cache.set(text, format)
  return format
}

export const DEFAULT_DATE_FORMAT = parseDateFormat('strict_date_optional_time||epoch_millis')
