/** Messages between the benchmark and its etl processes. */
import type { BenchTopics } from './bench-topics.ts'

export const RUNNERS = ['at-least-once', 'exactly-once'] as const
export type RunnerName = (typeof RUNNERS)[number]

export interface EtlTask {
  readonly topics: BenchTopics
  readonly runner: RunnerName
  /** Starts where it has committed: a new one at the beginning. */
  readonly group: string
}

/** Records done so far. */
export interface EtlSample {
  readonly atMs: number
  readonly records: number
  readonly cpuSeconds: number
}

/** Messages to a process: it joins the group, and starts its work at the same time as all others. */
export type ToEtl = { readonly kind: 'join'; readonly task: EtlTask } | { readonly kind: 'go' }
export type FromEtl = { readonly kind: 'joined' } | { readonly kind: 'done'; readonly samples: readonly EtlSample[] }
