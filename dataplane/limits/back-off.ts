/**
 * How long to wait after how many failures: the one rule for all that is tried again. The library cockatiel (4.0.0) does not fit: it waits on
 * timers of its own, which neither a clock of a test moves nor a stop cuts short.
 */

export interface BackOffConfig {
  readonly firstMs: number
  readonly maxMs: number
}

/** Part of a pause that chance may take off, so that many do not come at once. */
const JITTER = 0.25

/** Doubles from `firstMs` to `maxMs`; `failures` counts from 1. `random` in [0, 1) takes off up to a quarter. */
export function backOffMs({ firstMs, maxMs }: BackOffConfig, failures: number, random: () => number = Math.random): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(fullMs * (1 - JITTER * random()))
}
