/** The times of many documents, roughly: a document of another time is none of them. */
import { firstAtLeast } from '../../../first-at-least.ts'

/**
 * Spans that are told apart. Documents mostly come in the order of their times, in one span or a few. Records whose clocks are years off have spans of their
 * own, so that they make no time between taken.
 */
const MAX_SPANS = 512
/** No shorter gap is worth two spans. */
const MIN_GAP_MS = 1_000

/** First and last time of each span, by turns. */
export type StoredTimes = readonly number[]

/** Spans of time, ms, that do not touch each other, in order. */
export class DocumentTimes {
  /** First and last time of each, by turns. */
  readonly #bounds: Float64Array

  private constructor(bounds: Float64Array) {
    this.#bounds = bounds
  }

  static ofAll(timesMs: Float64Array): DocumentTimes {
    const sorted = timesMs.toSorted()
    const bounds = new Float64Array(2 * sorted.length)
    for (let at = 0; at < bounds.length; at++) bounds[at] = sorted[at >>> 1]!
    return new DocumentTimes(fewSpans(bounds))
  }

  static of(stored: StoredTimes): DocumentTimes {
    return new DocumentTimes(Float64Array.from(stored))
  }

  /** All times of the given. */
  static union(all: readonly DocumentTimes[]): DocumentTimes {
    const spans = all.flatMap(times => [...times.#spans()]).sort(([a], [b]) => a - b)
    return new DocumentTimes(fewSpans(Float64Array.from(spans.flat())))
  }

  *#spans(): Generator<readonly [fromMs: number, toMs: number], void, undefined> {
    for (let at = 0; at < this.#bounds.length; at += 2) yield [this.#bounds[at]!, this.#bounds[at + 1]!]
  }

  get sizeBytes(): number {
    return this.#bounds.byteLength
  }

  mayHold(ms: number): boolean {
    const bounds = this.#bounds
    const next = firstAtLeast(bounds, ms)
    // Behind the beginning of a span its end comes next.
    return next < bounds.length && (next % 2 === 1 || bounds[next] === ms)
  }

  toStored(): StoredTimes {
    return [...this.#bounds]
  }
}

/** Spans that come in the order of their beginnings, joined over the shortest gaps until they are few. */
function fewSpans(bounds: Float64Array): Float64Array {
  const apart = joined(bounds, MIN_GAP_MS)
  if (apart.length <= 2 * MAX_SPANS) return apart
  const gaps = Float64Array.from({ length: apart.length / 2 - 1 }, (_, k) => apart[2 * k + 2]! - apart[2 * k + 1]!).sort()
  return joined(apart, gaps[gaps.length - MAX_SPANS]!)
}

/** The spans, those as one that overlap or have no longer gap between them. */
function joined(bounds: Float64Array, gapMs: number): Float64Array {
  const spans = new Float64Array(bounds.length)
  let end = 0
  for (let at = 0; at < bounds.length; at += 2) {
    const [from, to] = [bounds[at]!, bounds[at + 1]!]
    if (end > 0 && from - spans[end - 1]! <= gapMs) spans[end - 1] = Math.max(spans[end - 1]!, to)
    else {
      spans[end++] = from
      spans[end++] = to
    }
  }
  return spans.slice(0, end)
}
