/** How long to wait after how many failures. */

export interface BackOffConfig {
  readonly firstMs: number
  readonly maxMs: number
}

/** Doubles from `firstMs` to `maxMs`; `failures` counts from 1. `random` in [0, 1) takes off up to a quarter, so that many do not come at once. */
export function backOffMs({ firstMs, maxMs }: BackOffConfig, failures: number, random: () => number): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(fullMs * (1 - random() / 4))
}
