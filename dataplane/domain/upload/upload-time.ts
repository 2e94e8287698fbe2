/** Times as log files have them, in nanoseconds since the epoch (Decisions 7). */

const ISO = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?)? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$/i
/** As web servers write it: `22/Nov/2026:10:00:00 +0000`. */
const WEB_SERVER = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/
/** As mail has it: `Sun, 22 Nov 2026 10:00:00 GMT`. */
const MAIL = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/
const NUMBER = /^(\d{1,20})(?:\.(\d+))?$/

const NANOS_PER_MS = 1_000_000n
/** The largest unsigned integer of 64 bits: a time beyond it (from July 2554 on) cannot be said in OTLP. */
const LAST = 2n ** 64n - 1n

/** Numbers count seconds, milliseconds, microseconds or nanoseconds by how large they are: the units of any time from 1973 on lie apart. */
const UNITS = [
  { below: 10n ** 8n, nanosDigits: undefined },
  { below: 10n ** 11n, nanosDigits: 9 },
  { below: 10n ** 14n, nanosDigits: 6 },
  { below: 10n ** 17n, nanosDigits: 3 },
  { below: LAST + 1n, nanosDigits: 0 },
] as const

/** Undefined for what is no time from 1970 on that OTLP can say. A time without an offset is in UTC; digits beyond nanoseconds are cut. */
export function parseUploadTime(value: unknown): bigint | undefined {
  const nanos = nanosOf(value)
  return nanos === undefined || nanos > LAST ? undefined : nanos
}

function nanosOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return parseNumber(String(value))
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return parseNumber(text) ?? parseText(text)
}

function parseNumber(text: string): bigint | undefined {
  const match = NUMBER.exec(text)
  if (match === null) return undefined
  const whole = BigInt(match[1]!)
  const digits = UNITS.find(({ below }) => whole < below)?.nanosDigits
  return digits === undefined ? undefined : whole * 10n ** BigInt(digits) + BigInt(fractionNanos(match[2], digits))
}

function parseText(text: string): bigint | undefined {
  const iso = ISO.exec(text)
  if (iso !== null) {
    const [, year, month, day, minutes = '00:00', seconds = '00', fraction, offset = 'Z'] = iso
    return toNanos(`${year}-${month}-${day}T${minutes}:${seconds}${isoOffset(offset)}`, fraction)
  }
  const web = WEB_SERVER.exec(text)
  if (web !== null) return toNanos(`${web[1]} ${web[2]} ${web[3]} ${web[4]} ${web[5]}`)
  return MAIL.test(text) ? toNanos(text) : undefined
}

function toNanos(text: string, fraction?: string): bigint | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) || ms < 0 ? undefined : BigInt(ms) * NANOS_PER_MS + BigInt(fractionNanos(fraction, 9))
}

function fractionNanos(fraction = '', digits: number): string {
  return digits === 0 ? '0' : fraction.slice(0, digits).padEnd(digits, '0')
}

function isoOffset(offset: string): string {
  if (/^(z|utc|gmt)$/i.test(offset)) return 'Z'
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}
