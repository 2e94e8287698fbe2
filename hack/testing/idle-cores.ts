import type { CpuInfo } from 'node:os'

type Times = readonly Pick<CpuInfo, 'times'>[]

/** The share of the cores' time between two looks at them that nobody used, 0 to 1. */
export function idleShare(before: Times, now: Times): number {
  const idle = sum(now, ({ times }) => times.idle) - sum(before, ({ times }) => times.idle)
  const all = sum(now, total) - sum(before, total)
  return all <= 0 ? 0 : idle / all
}

function total({ times }: Pick<CpuInfo, 'times'>): number {
  return Object.values(times).reduce((some, each) => some + each, 0)
}

function sum(cores: Times, of: (core: Pick<CpuInfo, 'times'>) => number): number {
  return cores.reduce((some, core) => some + of(core), 0)
}
