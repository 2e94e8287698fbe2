/** How often the status of a pipeline is written while its pods come and go. */
import { type BackOffConfig, backOffMs } from '../../dataplane/kube/informers/back-off.ts'
import type { LogPipelineStatus } from '../api/status.ts'

/** Waits between writes that tell details alone, one after the other, until the summary changes. */
const DETAILS: BackOffConfig = { firstMs: 5000, maxMs: 30_000 }
/** Conditions whose change is told at once. */
const SUMMARY: ReadonlySet<string> = new Set(['Ready', 'Stalled', 'Paused'])

export interface StatusPace {
  /** How long to wait before `after` is written in the place of `before`: 0 where it tells of something new, not of pods on their way alone. */
  waitMs(key: string, before: LogPipelineStatus | undefined, after: LogPipelineStatus, nowMs: number): number
  noteWritten(key: string, before: LogPipelineStatus | undefined, after: LogPipelineStatus, nowMs: number): void
  forget(key: string): void
}

export function createStatusPace(): StatusPace {
  /** By key: the last write, and how many in a row told details alone. */
  const written = new Map<string, { readonly atMs: number; readonly details: number }>()
  return {
    waitMs(key, before, after, nowMs) {
      const last = written.get(key)
      if (last === undefined || summaryOf(before) !== summaryOf(after)) return 0
      return Math.max(0, last.atMs + backOffMs(DETAILS, last.details + 1, () => 0) - nowMs)
    },
    noteWritten(key, before, after, nowMs) {
      const isDetail = summaryOf(before) === summaryOf(after)
      written.set(key, { atMs: nowMs, details: isDetail ? (written.get(key)?.details ?? 0) + 1 : 0 })
    },
    forget: key => void written.delete(key),
  }
}

function summaryOf(status: LogPipelineStatus | undefined): string {
  const conditions = (status?.conditions ?? []).filter(({ type }) => SUMMARY.has(type))
  return JSON.stringify([status?.observedGeneration, status?.inputsHash, conditions.map(({ type, status: is }) => [type, is])])
}
