/** A day, after which no sender here tries again. */
const MAX_RETRY_AFTER_MS = 86_400_000

/** The wait that a `Retry-After` of seconds or of an HTTP date asks for, in ms from 0 to a day; undefined without one that can be read. Source: RFC 9110, 10.2.3. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = (typeof header === 'string' ? header : (header?.[0] ?? '')).trim()
  const [, seconds] = SECONDS.exec(text) ?? []
  const ms = seconds === undefined ? msUntil(text, nowMs) : Number(seconds) * 1_000
  return Number.isNaN(ms) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, Math.ceil(ms)))
}

/** The first of a list: a proxy may have put its own beside that of the server. */
const SECONDS = /^(\d+(?:\.\d+)?)\s*(?:,|$)/
/** `Date.parse` takes numbers such as -5000 for years. */
const DATE = /\d[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[ -]|^\w{3} [a-z]{3} [ \d]\d \d|^\d{4}-\d\d-\d\d/i
const ZONE = /GMT|UTC|[Zz]$|[+-]\d\d:?\d\d$/

/** NaN for a text that is no date. A date of HTTP is in UTC, whether or not it says so. */
function msUntil(text: string, nowMs: number): number {
  if (!DATE.test(text)) return Number.NaN
  return Date.parse(ZONE.test(text) ? text : `${text}Z`) - nowMs
}
