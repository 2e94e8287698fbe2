/** Numbers and times as the console writes them. */
import { onClock } from './time/clock.ts'

const WHOLE = new Intl.NumberFormat('en')
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const BYTES = ['B', 'KB', 'MB', 'GB', 'TB'] as const

export function formatCount(count: number): string {
  return WHOLE.format(count)
}

/** `12,345` → `12.3K`, for places where there is little room. */
export function formatShort(count: number): string {
  return SHORT.format(count)
}

export function formatBytes(bytes: number): string {
  let size = bytes
  let unit = 0
  for (; size >= 1_024 && unit < BYTES.length - 1; unit++) size /= 1_024
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${BYTES[unit]}`
}

/** `0.1234` → `12 %`; below one per cent with a digit more. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  return `${percent > 0 && percent < 10 ? percent.toFixed(1).replace(/\.0$/, '') : Math.round(percent)} %`
}

export interface Change {
  readonly text: string
  readonly direction: 'up' | 'down' | 'same' | 'new' | 'none'
}

/** How a count stands to that of the time before. */
export function compareCounts(now: number, before: number): Change {
  if (now === 0 && before === 0) return { text: '–', direction: 'none' }
  if (before === 0) return { text: 'new', direction: 'new' }
  const ratio = now / before
  return { text: sayRatio(ratio), direction: Math.abs(ratio - 1) < 0.005 ? 'same' : ratio > 1 ? 'up' : 'down' }
}

/** How many times as much, as a change: `0.5` → `− 50 %`, `50` → `× 50`. */
export function sayRatio(ratio: number): string {
  if (ratio >= 10) return `× ${formatShort(Math.round(ratio))}`
  const percent = Math.round((ratio - 1) * 100)
  return percent === 0 ? '± 0 %' : `${percent > 0 ? '+' : '−'} ${Math.abs(percent)} %`
}

/** `3 min ago`, `in 2 h`. */
export function formatAgo(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1_000)
  const size = Math.abs(seconds)
  if (size < 10) return 'just now'
  const [count, unit] = size < 60 ? [size, 's'] : size < 3_600 ? [Math.round(size / 60), 'min'] : size < 86_400 ? [Math.round(size / 3_600), 'h'] : [Math.round(size / 86_400), 'd'] // biome-ignore format: one line
  return seconds >= 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** `22 Nov 23:51:07`, by the clock of the console, as all times here; `22 Nov 2025 23:51:07` of another year than that of `nowMs`. */
export function formatMoment(iso: string | number, nowMs = Date.now()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return String(iso)
  const year = onClock(date.getTime()).getUTCFullYear()
  return `${formatDay(date)}${year === onClock(nowMs).getUTCFullYear() ? '' : ` ${year}`} ${formatClock(date)}`
}

/** `22 Nov` */
export function formatDay(date: Date): string {
  const shown = onClock(date.getTime())
  return `${shown.getUTCDate()} ${MONTHS[shown.getUTCMonth()]}`
}

/** `23:51:07` */
export function formatClock(date: Date): string {
  return onClock(date.getTime()).toISOString().slice(11, 19)
}

/** `2026-11-22 23:51:07.123` */
export function formatTime(iso: string | number): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return String(iso)
  return onClock(date.getTime()).toISOString().slice(0, 23).replace('T', ' ')
}
