/** A day, after which no sender here tries again. */
const MAX_RETRY_AFTER_MS = 86_400_000

/** The wait that a `Retry-After` of seconds or of an HTTP date asks for, in ms from 0 to a day; undefined without one that can be read. Source: RFC 9110, 10.2.3. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = (typeof header === 'string' ? header : (header?.[0] ?? '')).trim()
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : msUntil(text, nowMs)
  return Number.isNaN(ms) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, Math.ceil(ms)))
}

/** NaN for a text that is no date. `Date.parse` also takes numbers such as -5 for years. */
const msUntil = (text: string, nowMs: number) => (/\d{4}/.test(text) ? Date.parse(text) - nowMs : Number.NaN)
