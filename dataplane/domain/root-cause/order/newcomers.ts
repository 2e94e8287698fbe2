import type { ObservedSystem } from '../observed/observed-system.ts'

/** A service that is heard in this last part of the baseline for the first time, or in the window, is new. */
const NEW_PART = 1 / 3

/** Services that came shortly before the window, or in it: a release beside a fault. None without a time before. */
export function findNewcomers({ baseline, window, atMs }: Pick<ObservedSystem, 'baseline' | 'window' | 'atMs'>): ReadonlySet<number> {
  const newcomers = new Set<number>()
  if (Number.isNaN(baseline.firstMs)) return newcomers
  const sinceMs = atMs - NEW_PART * (atMs - baseline.firstMs)
  const before = new Set<number>()
  for (const { timeMs, kind } of baseline.records) {
    if (timeMs < sinceMs) before.add(kind.service)
    else if (!before.has(kind.service)) newcomers.add(kind.service)
  }
  for (const { kind } of window.records) if (!before.has(kind.service)) newcomers.add(kind.service)
  return newcomers
}
