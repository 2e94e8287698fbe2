/** How the buckets of histograms follow each other. */
import { addUnits, floorToUnit, LEAST_MS, UNIT_MS } from '../../dates/calendar.ts'
import { DEFAULT_DATE_FORMAT } from '../../dates/date-format.ts'
import { localToUtc } from '../../dates/time-zone.ts'
import type { BucketSpec } from '../spec.ts'

type BucketsOf<T extends BucketSpec['type']> = Extract<BucketSpec, { readonly type: T }>

/** How values become keys, and keys follow each other. */
export interface Grid {
  /** Equal for grids that put all values into the same buckets. */
  readonly name: string
  /** First value of the bucket that holds `value`. */
  keyOf(value: number): number
  next(key: number): number
  /** Least distance between keys. */
  readonly width: number
  /** Bucket's text, for dates. */
  text(key: number): string | undefined
}

export function gridOf(spec: BucketsOf<'histogram'> | BucketsOf<'date_histogram'>): Grid {
  return spec.type === 'histogram' ? numberGrid(spec) : dateGrid(spec)
}

function numberGrid({ interval, offset }: BucketsOf<'histogram'>): Grid {
  // Keys are multiples, so that steps of 0.1 do not drift.
  const keyAt = (step: number): number => step * interval + offset
  const stepOf = (value: number): number => Math.floor((value - offset) / interval)
  return {
    name: JSON.stringify([interval, offset]),
    keyOf: value => keyAt(stepOf(value)),
    next: key => keyAt(Math.round((key - offset) / interval) + 1),
    width: interval,
    text: () => undefined,
  }
}

function dateGrid({ interval, zone, offsetMs, format = DEFAULT_DATE_FORMAT }: BucketsOf<'date_histogram'>): Grid {
  const name = JSON.stringify([interval, zone.name, offsetMs])
  const text = (key: number): string => format.print(key, zone)
  if ('unit' in interval)
    return {
      name,
      keyOf: value => floorToUnit(value - offsetMs, interval.unit, zone) + offsetMs,
      next: key => addUnits(key - offsetMs, 1, interval.unit, zone) + offsetMs,
      width: LEAST_MS[interval.unit],
      text,
    }
  const { ms } = interval
  const fixed = zone.fixedOffsetMs
  if (fixed !== undefined) {
    const shift = fixed - offsetMs
    return { name, keyOf: value => Math.floor((value + shift) / ms) * ms - shift, next: key => key + ms, width: ms, text }
  }
  const isLong = ms >= UNIT_MS.day
  const keyOf = (value: number): number => {
    const shift = zone.offsetMs(value - offsetMs)
    const local = Math.floor((value - offsetMs + shift) / ms) * ms
    return (isLong ? localToUtc(local, zone) : local - shift) + offsetMs
  }
  // A day may last 23 or 25 hours: step into the middle of the next bucket, then down to its start.
  return { name, keyOf, next: key => (isLong ? keyOf(key + ms * 1.5) : key + ms), width: ms, text }
}
