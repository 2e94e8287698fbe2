/** ms of a `Retry-After`: seconds or a date; undefined for anything else. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000)
  const atMs = /\d{4}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
