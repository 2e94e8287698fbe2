/** How often a status is written while details of it come and go: pods of a pipeline, counts of a route. */
import { type BackOffConfig, backOffMs } from '../../dataplane/limits/back-off.ts'
import type { LogPipelineStatus, TicketingRouteStatus } from '../api/status.ts'
import { conditionOf } from '../api/status.ts'
import { canonicalJson, hashOf } from '../reconcile/canonical-json.ts'
import { CALM_MS, type PutBack, putBackWaitMs } from '../reconcile/put-backs.ts'

/** Waits between writes that tell details alone, one after the other, until the summary changes. */
const DETAILS: BackOffConfig = { firstMs: 5000, maxMs: 30_000 }
/**
 * The pace of details of all pipelines together. A change of a Secret that hundreds of pipelines share moves all their pods at once; the API server is
 * spared a write for each pod.
 */
const SHARED = { everyMs: 1000, burst: 10, maxWaitMs: 300_000 }

export interface StatusPace<S> {
  /** How long to wait before `after` is written in the place of `before`: 0 where it tells of something new, not of details alone. */
  waitMs(key: string, before: S | undefined, after: S, nowMs: number): number
  noteWritten(key: string, before: S | undefined, after: S, nowMs: number): void
  forget(key: string): void
}

/** Parts of a status: `summaryOf` is told at once; `reasonOf` waits for no turn among others. */
export interface StatusSummary<S> {
  readonly summaryOf: (status: S | undefined) => string
  readonly reasonOf: (status: S | undefined) => string | undefined
}

export function createStatusPace<S>({ summaryOf, reasonOf }: StatusSummary<S>): StatusPace<S> {
  const written = new Map<string, Written>()
  const turns = createTurns()
  return {
    waitMs(key, before, after, nowMs) {
      const last = written.get(key)
      const putBackMs = last === undefined ? 0 : repeatWaitMs(last, after, nowMs)
      if (putBackMs > 0) return putBackMs
      if (last === undefined || summaryOf(before) !== summaryOf(after)) return 0
      const ownMs = Math.max(0, last.atMs + backOffMs(DETAILS, last.details + 1, () => 0) - nowMs)
      if (ownMs > 0 || reasonOf(before) !== reasonOf(after)) return ownMs
      return turns.waitMs(key, nowMs)
    },
    noteWritten(key, before, after, nowMs) {
      const isDetail = summaryOf(before) === summaryOf(after)
      const last = written.get(key)
      const hash = contentOf(after)
      const isRepeat = last?.hash === hash && nowMs - last.atMs < CALM_MS
      const repeats = isRepeat ? last.repeats + 1 : 0
      written.set(key, { atMs: nowMs, details: isDetail ? (last?.details ?? 0) + 1 : 0, hash, repeats })
      turns.end(key)
    },
    forget(key) {
      written.delete(key)
      turns.end(key)
    },
  }
}

interface Written extends PutBack {
  /** How many writes in a row told details alone. */
  readonly details: number
  readonly hash: string
}

/** Somebody who writes the status again and again must not take the requests of others. */
function repeatWaitMs(last: Written, after: unknown, nowMs: number): number {
  const waitMs = nowMs - last.atMs >= CALM_MS ? 0 : putBackWaitMs(last, nowMs)
  return waitMs > 0 && last.hash === contentOf(after) ? waitMs : 0
}

/** Without the times of conditions, which begin anew where somebody else turned one. */
function contentOf(status: unknown): string {
  return hashOf(JSON.parse(JSON.stringify(status, (name, value) => (name === 'lastTransitionTime' ? undefined : value)) ?? 'null'))
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

/** Conditions whose change is told at once. */
const SUMMARY: ReadonlySet<string> = new Set(['Ready', 'Stalled', 'Paused'])

export const PIPELINE_SUMMARY: StatusSummary<LogPipelineStatus> = {
  summaryOf(status) {
    const conditions = (status?.conditions ?? []).filter(({ type }) => SUMMARY.has(type))
    return JSON.stringify([status?.observedGeneration, status?.inputsHash, conditions.map(({ type, status: is }) => [type, is])])
  },
  reasonOf: status => conditionOf({ status }, 'Ready')?.reason,
}

/** Counts, and how the last attempt failed, are details of a route: hundreds may share one target. */
export const ROUTE_SUMMARY: StatusSummary<TicketingRouteStatus> = {
  summaryOf(status) {
    const { observedGeneration, target, pipelines, conditions = [] } = status ?? {}
    const told = conditions.map(({ type, status: is, reason, message }) => [type, is, reason, type === 'Dispatching' ? '' : message])
    return canonicalJson([observedGeneration, target, pipelines, told])
  },
  reasonOf: () => undefined,
}
