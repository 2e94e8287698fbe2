/** A small shop for tests of root causes: each request goes from `gateway` to `orders` to `payments` and back. */
import { findRootCause, type Question } from '../domain/root-cause/find-root-cause.ts'
import type { Observation } from '../domain/root-cause/observed/observation.ts'
import type { RootCause } from '../domain/root-cause/root-cause.ts'

export const AT_MS = Date.UTC(2026, 0, 1, 12)

/** One line of a request: who says what, so many ms after the line before. */
export interface Line {
  readonly service: string
  readonly says: string
  readonly afterMs: number
  readonly isError?: boolean
}

export const USUAL: readonly Line[] = [
  { service: 'gateway', says: 'order received', afterMs: 0 },
  { service: 'orders', says: 'order checked', afterMs: 8 },
  { service: 'orders', says: 'order stored', afterMs: 12 },
  { service: 'payments', says: 'card charged', afterMs: 9 },
  { service: 'payments', says: 'receipt written', afterMs: 6 },
  { service: 'gateway', says: 'order answered', afterMs: 7 },
]

export function observation(overrides: Partial<Observation>): Observation {
  const pattern = overrides.pattern ?? 'a line'
  return {
    timeMs: AT_MS,
    service: 'orders',
    traceId: '',
    spanId: '',
    template: pattern,
    isError: false,
    logId: `${overrides.service} ${pattern} ${overrides.timeMs}`,
    patternId: pattern,
    pattern,
    ...overrides,
  }
}

export interface Traffic {
  /** Start and end by minutes from `AT_MS`. */
  readonly from: number
  readonly to: number
  readonly perMinute: number
  /** The lines of request number `i`. */
  readonly lines: (i: number) => readonly Line[]
  /** Default: each service has a span of its own in a request. */
  readonly hasSpans?: boolean
}

/** Requests at even times; gaps differ by up to a fifth from request to request, the same in every run. */
export function traffic({ from, to, perMinute, lines, hasSpans = true }: Traffic): readonly Observation[] {
  const found: Observation[] = []
  const count = Math.round((to - from) * perMinute)
  for (let i = 0; i < count; i++) {
    const traceId = `trace ${from} ${i}`
    let timeMs = AT_MS + (from + i / perMinute) * 60_000
    for (const [line, { service, says, afterMs, isError = false }] of lines(i).entries()) {
      timeMs += afterMs * (0.9 + 0.2 * noise(i * 31 + line))
      const spanId = hasSpans ? `${traceId} ${service}` : ''
      found.push(observation({ timeMs, service, traceId, spanId, isError, pattern: says, logId: `${traceId} ${line}` }))
    }
  }
  return found
}

/** Fifteen usual minutes, and then three with `lines`. */
export function shop(lines: Traffic['lines'], hasSpans = true): readonly Observation[] {
  return [
    ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => USUAL, hasSpans }),
    ...traffic({ from: 0, to: 3, perMinute: 40, lines, hasSpans }),
  ]
}

/** 0 to 1, by chance but always the same. */
export function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898 + 78.233) * 43_758.5453
  return x - Math.floor(x)
}

export function finish<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

export function rootCauseOf(observations: readonly Observation[], question: Partial<Question> = {}): RootCause {
  return finish(findRootCause({ observations, atMs: AT_MS, ...question }))
}
