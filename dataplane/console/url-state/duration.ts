/** Durations as people write them: `90s`, `15m`, `1h`, `7d`. */
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof UNITS_MS

const NAMES: Readonly<Record<Unit, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' }

/** In ms; undefined for what is none, or is longer than ten years. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,6})\s*([smhdw])$/i.exec(text.trim())
  if (match === null) return undefined
  const ms = Number(match[1]) * UNITS_MS[match[2]!.toLowerCase() as Unit]
  return ms > 0 && ms <= 3_650 * UNITS_MS.d ? ms : undefined
}

/** `15m` → `15 minutes`. */
export function sayDuration(text: string): string {
  const match = /^(\d+)\s*([smhdw])$/i.exec(text.trim())
  if (match === null) return text
  const name = NAMES[match[2]!.toLowerCase() as Unit]
  return match[1] === '1' ? name : `${match[1]} ${name}s`
}
