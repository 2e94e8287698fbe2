/** Records of a service in event time, for tests of signals: requests of equal statements, a given number in each half minute. */
import type { SignalFields } from '../signal.ts'
import { SLOT_MS } from '../slots.ts'

export const START_MS = Date.UTC(2026, 10, 22, 12)

export interface Step {
  readonly pattern: string
  readonly level?: 'INFO' | 'WARN' | 'ERROR'
  /** After the step before, ms. Default 10. */
  readonly afterMs?: number
}

export const STEPS: readonly Step[] = [{ pattern: 'order received' }, { pattern: 'seat reserved' }, { pattern: 'order done' }]

let visits = 0

/** One request. */
export function visit(startMs: number, steps: readonly Step[] = STEPS): readonly SignalFields[] {
  const visitHash = Math.imul(++visits, 0x9e3779b1) | 1
  let timeMs = startMs
  return steps.map(step => {
    timeMs += step.afterMs ?? 10
    return { ...plain(timeMs, step), visitHash }
  })
}

/** A record without a trace. */
export function plain(timeMs: number, { pattern, level = 'INFO' }: Step): SignalFields {
  return { timeMs, pattern, patternHash: hashOf(pattern), level, visitHash: 0 }
}

/** Requests in the half minutes from one up to another, spread over each. */
export function traffic(fromSlot: number, toSlot: number, { perSlot = 10, steps = STEPS } = {}): readonly SignalFields[] {
  return Array.from({ length: toSlot - fromSlot }, (_, slot) =>
    Array.from({ length: perSlot }, (_, n) => visit(START_MS + (fromSlot + slot) * SLOT_MS + (n * SLOT_MS) / perSlot, steps)).flat(),
  ).flat()
}

function hashOf(text: string): number {
  let hash = 7
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  return hash | 1
}
