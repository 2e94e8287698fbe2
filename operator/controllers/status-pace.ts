/** How often the status of a pipeline is written while its pods come and go. */
import { type BackOffConfig, backOffMs } from '../../dataplane/limits/back-off.ts'
import type { LogPipelineStatus } from '../api/status.ts'

/** Waits between writes that tell details alone, one after the other, until the summary changes. */
const DETAILS: BackOffConfig = { firstMs: 5000, maxMs: 30_000 }
/** Conditions whose change is told at once. */
const SUMMARY: ReadonlySet<string> = new Set(['Ready', 'Stalled', 'Paused'])

/**
 * The pace of details of all pipelines together. A change of a Secret that hundreds of pipelines share moves all their pods at once; the API server is
 * spared a write for each pod.
 */
const SHARED = { everyMs: 1000, burst: 10, maxWaitMs: 300_000 }

export interface StatusPace {
  /** How long to wait before `after` is written in the place of `before`: 0 where it tells of something new, not of pods on their way alone. */
  waitMs(key: string, before: LogPipelineStatus | undefined, after: LogPipelineStatus, nowMs: number): number
  noteWritten(key: string, before: LogPipelineStatus | undefined, after: LogPipelineStatus, nowMs: number): void
  forget(key: string): void
}

export function createStatusPace(): StatusPace {
  /** By key: the last write, and how many in a row told details alone. */
  const written = new Map<string, { readonly atMs: number; readonly details: number }>()
  const turns = createTurns()
  return {
    waitMs(key, before, after, nowMs) {
      const last = written.get(key)
      if (last === undefined || summaryOf(before) !== summaryOf(after)) return 0
      const ownMs = Math.max(0, last.atMs + backOffMs(DETAILS, last.details + 1, () => 0) - nowMs)
      if (ownMs > 0 || whyNotReady(before) !== whyNotReady(after)) return ownMs
      return turns.waitMs(key, nowMs)
    },
    noteWritten(key, before, after, nowMs) {
      const isDetail = summaryOf(before) === summaryOf(after)
      written.set(key, { atMs: nowMs, details: isDetail ? (written.get(key)?.details ?? 0) + 1 : 0 })
      turns.end(key)
    },
    forget(key) {
      written.delete(key)
      turns.end(key)
    },
  }
}

/** Gives each key a turn of its own, at the pace of `SHARED`. A key keeps its turn until it ends it. */
function createTurns() {
  const turns = new Map<string, number>()
  let nextMs = Number.NEGATIVE_INFINITY
  return {
    waitMs(key: string, nowMs: number): number {
      let turnMs = turns.get(key)
      if (turnMs === undefined) {
        nextMs = Math.max(nextMs, nowMs - SHARED.burst * SHARED.everyMs) + SHARED.everyMs
        turnMs = Math.min(nextMs, nowMs + SHARED.maxWaitMs)
        turns.set(key, turnMs)
      }
      return Math.max(0, turnMs - nowMs)
    },
    end: (key: string) => void turns.delete(key),
  }
}

function summaryOf(status: LogPipelineStatus | undefined): string {
  const conditions = (status?.conditions ?? []).filter(({ type }) => SUMMARY.has(type))
  return JSON.stringify([status?.observedGeneration, status?.inputsHash, conditions.map(({ type, status: is }) => [type, is])])
}

function whyNotReady(status: LogPipelineStatus | undefined): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason
}
