/** Times in tickets, for readers in several time zones: always UTC, and saying so. */

/** `2026-01-01 10:03:11 UTC`; a text that is no time stays as it is. */
export function utcTime(iso: string): string {
  const ms = Date.parse(iso)
  return Number.isNaN(ms) ? iso : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `10:03:11.204`. */
export function clockTime(iso: string): string {
  const ms = Date.parse(iso)
  return Number.isNaN(ms) ? iso : new Date(ms).toISOString().slice(11, 23)
}

const UNITS = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
  { ms: 1_000, name: 's' },
] as const

/** `14 min`, `2 h 5 min`: the two largest units; undefined when one is no time or the second is before the first. */
export function elapsed(fromIso: string, toIso: string): string | undefined {
  const ms = Date.parse(toIso) - Date.parse(fromIso)
  if (!(ms >= 0)) return undefined
  const first = UNITS.findIndex(unit => ms >= unit.ms)
  if (first < 0) return '0 s'
  const shown = UNITS.slice(first, first + 2)
  const counts = shown.map((unit, index) => Math.floor((index === 0 ? ms : ms % shown[0]!.ms) / unit.ms))
  return shown.flatMap(({ name }, index) => (counts[index]! > 0 ? [`${counts[index]} ${name}`] : [])).join(' ')
}
