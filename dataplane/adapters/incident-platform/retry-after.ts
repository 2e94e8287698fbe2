/** A day in which every retry is over anyway. */
const MAX_RETRY_AFTER_MS = 86_400_000

/** `Retry-After` in seconds or as an HTTP date, in ms from now; undefined without one that can be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, Math.round(ms)))
}
