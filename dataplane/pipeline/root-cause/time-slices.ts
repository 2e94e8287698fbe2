/** Parts of a period that stand for all of it: of a busy tenant more records come in minutes than an analysis can look at. */

export interface TimeSlice {
  /** Ms since the epoch. */
  readonly fromMs: number
  /** The first time after the slice. */
  readonly toMs: number
}

export interface SlicedPeriod {
  readonly fromMs: number
  /** Where the window begins: no slice lies on both sides. */
  readonly atMs: number
  readonly toMs: number
}

/** A slice is taken from each so much time, at least … */
const STEP_MS = 10_000
/** … unless it would be shorter than this: requests that begin before a slice or end behind it are cut. */
const LEAST_SLICE_MS = 250
/** Slices on each side of the window's start, at most. */
const MAX_SLICES = 32
/** Slices begin at places that follow no rhythm of the records: multiples of the golden ratio. */
const GOLDEN = 0.618_033_988_749_895

/** Slices of the time before the window and of the window, which are the same share of both; the latest first. `share` is above 0 and below 1. */
export function sliceTime({ fromMs, atMs, toMs }: SlicedPeriod, share: number): readonly TimeSlice[] {
  return [...slicesOf(fromMs, Math.min(atMs, toMs), share), ...slicesOf(Math.max(atMs, fromMs), toMs, share)].reverse()
}

function slicesOf(fromMs: number, toMs: number, share: number): TimeSlice[] {
  if (toMs <= fromMs) return []
  const stepMs = Math.max(STEP_MS, LEAST_SLICE_MS / share, (toMs - fromMs) / MAX_SLICES)
  const count = Math.max(1, Math.floor((toMs - fromMs) / stepMs))
  const lengthMs = (toMs - fromMs) / count
  const sliceMs = Math.max(1, Math.round(lengthMs * share))
  return Array.from({ length: count }, (_, at) => {
    const startMs = Math.floor(fromMs + at * lengthMs + ((at * GOLDEN) % 1) * (lengthMs - sliceMs))
    return { fromMs: startMs, toMs: Math.min(startMs + sliceMs, toMs) }
  })
}
