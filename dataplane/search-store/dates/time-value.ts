/** Time values of parameters and settings. */
import { illegalArgument } from '../api-error.ts'
import { textOf } from '../json/text-of.ts'

const UNIT_MS: Readonly<Record<string, number>> = { nanos: 1e-6, micros: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time value such as `30s`, `500ms`, `-1`. */
export function parseDurationMs(value: unknown, where: string): number {
  if (value === -1 || value === '-1') return -1
  if (value === 0 || value === '0') return 0
  const match = typeof value === 'string' ? /^(\d{1,9}(?:\.\d{1,6})?)(nanos|micros|ms|s|m|h|d)$/.exec(value.trim()) : null
  if (match === null)
    throw illegalArgument(
      `failed to parse setting [${where}] with value [${textOf(value)}] as a time value: unit is missing or unrecognized`,
    )
  return Number(match[1]) * UNIT_MS[match[2]!]!
}
