/** Times within texts of the server, which are in UTC, by the clock of the browser. */
import { formatMoment, formatTime } from '../../../components/format.ts'

/** `2026-11-27T08:52:06.123Z`, or `08:52:06 UTC`, whose day is told by the incident. */
const TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z|(?<![\d:])([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))? UTC\b/g
const DAY_MS = 86_400_000

/** `nearMs`: a moment of the incident. */
export function inBrowserClock(text: string, nearMs: number): string {
  return text.replaceAll(TIMES, (whole: string, hours?: string, minutes?: string, seconds?: string) => {
    if (hours === undefined) return formatMoment(whole, nearMs)
    const ofDayMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * 1_000
    const clock = formatTime(nearestMs(ofDayMs, nearMs)).slice(11, 19)
    return seconds === undefined ? clock.slice(0, 5) : clock
  })
}

/** The moment at this time of a day (UTC) that is nearest to another. */
function nearestMs(ofDayMs: number, nearMs: number): number {
  return ofDayMs + Math.round((nearMs - ofDayMs) / DAY_MS) * DAY_MS
}
