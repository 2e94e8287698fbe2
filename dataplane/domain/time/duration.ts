/** Units of a duration string and what each is in milliseconds. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/
const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/g

/** Milliseconds of a duration string such as `15m`, `90s` or `1h30m`; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(PART)) ms += Number(amount) * UNIT_MS[unit!]!
  return Number.isFinite(ms) ? Math.round(ms) : undefined
}

/** An uptime as Go prints durations: `1h2m3.4s`, `2m0s`, `3.4s`, `0s` (Decisions 3). */
export function formatUptime(ms: number): string {
  const total = Math.max(0, Math.floor(ms))
  const hours = Math.floor(total / UNIT_MS['h']!)
  const minutes = Math.floor((total % UNIT_MS['h']!) / UNIT_MS['m']!)
  const seconds = `${(total % UNIT_MS['m']!) / UNIT_MS['s']!}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}
