/** Times as a Feast client sends them, ms since the epoch. */

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d{1,9})?)? ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i
const NANOS_PER_MS = 1e6
const MAX_DATE_MS = 8.64e15

/** ISO-8601, also with a space for the `T`, UTC where it names no offset; a number is nanoseconds since the epoch, as pandas has it. undefined: neither. */
export function parseEventTime(value: unknown): number | undefined {
  if (typeof value === 'number') return isDate(value / NANOS_PER_MS) ? Math.floor(value / NANOS_PER_MS) : undefined
  const match = typeof value === 'string' ? DATE_TIME.exec(value.trim()) : null
  if (match === null) return undefined
  const [, date, time = '00:00', fraction = '', offset = 'Z'] = match
  const ms = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}${fraction.slice(0, 4)}${isoOffset(offset)}`)
  return isDate(ms) ? ms : undefined
}

/** Whether a date of JavaScript can hold it. */
const isDate = (ms: number) => Math.abs(ms) <= MAX_DATE_MS

function isoOffset(offset: string): string {
  if (/^(z|utc)$/i.test(offset)) return 'Z'
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

/** As protobuf's JSON writes it: no fraction where there is none. */
export function formatEventTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
