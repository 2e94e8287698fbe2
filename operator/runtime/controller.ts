/** Workers that take keys from a queue and reconcile each. A worker whose key hangs has another stand in for it. */

import type { ApiFailure } from '../../dataplane/kube/api-failure.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import type { LineName, WorkOutcome, WorkQueue } from './work-queue.ts'

/** A failure says why, and what the user can do. */
export type ReconcileOutcome =
  | Exclude<WorkOutcome, { readonly kind: 'failed' }>
  | (Extract<WorkOutcome, { readonly kind: 'failed' }> & { readonly message: string; readonly advice?: string })

/** The outcome of a request that failed; the key waits as long as the API server asks for. */
export function failedBy({ message, advice, retryAfterMs, isHang }: ApiFailure): ReconcileOutcome {
  return {
    kind: 'failed',
    message,
    ...(advice !== undefined && { advice }),
    ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
    ...(isHang === true && { isHang }),
  }
}

export interface ControllerConfig {
  readonly name: string
  readonly workers: number
  /** Level-triggered: gets the key of the object and not the change. An error that it throws counts as a failure. */
  readonly reconcile: (key: string) => Promise<ReconcileOutcome>
}

export interface ControllerDeps {
  readonly queue: WorkQueue
  readonly clock: Clock
  readonly log: Log
  /** Sees each end, for metrics. `active`: how many workers are still at it. */
  readonly onReconcile?: (result: 'success' | 'error' | 'requeue_after', durationMs: number) => void
  readonly onActive?: (active: number) => void
  /** Whether requests could be made just now without waiting: more workers make no sense otherwise. Default: always. */
  readonly hasRoom?: () => boolean
}

export interface Controller {
  start(): void
  /** Takes no more keys; resolves when the work under way has ended. */
  stop(): Promise<void>
}

/** A worker that has been at a key for so long no longer counts. */
const PATIENCE_MS = 1000
/** Between two looks for room after that. */
const LOOK_MS = 250
/** Workers that hang and have another stand in for them, at once. */
export const MAX_STAND_INS = 256
/** Workers for keys that hang time and again. */
export const HANGING_WORKERS = 4

const RESULTS = { settled: 'success', again: 'requeue_after', failed: 'error' } as const

export function createController({ name, workers, reconcile }: ControllerConfig, deps: ControllerDeps): Controller {
  const { queue, clock, hasRoom = () => true } = deps
  const log = deps.log.child({ controller: name })
  /** The last failure of each key: the same one is not told again and again. */
  const told = new Map<string, string>()
  const running = new Set<Promise<void>>()
  let active = 0
  let standIns = 0
  let isStarted = false

  const attempt = async (key: string): Promise<ReconcileOutcome> => {
    try {
      return await reconcile(key)
    } catch (error) {
      log.error({ key, error }, 'reconcile broke off')
      return { kind: 'failed', message: error instanceof Error ? error.message : String(error) }
    }
  }

  const tell = (key: string, outcome: ReconcileOutcome): void => {
    if (outcome.kind !== 'failed') {
      if (told.delete(key)) log.info({ key }, 'reconcile works again')
    } else if (told.get(key) !== outcome.message) {
      told.set(key, outcome.message)
      log.warn({ key, advice: outcome.advice }, `reconcile failed, trying again: ${outcome.message}`)
    } else log.debug({ key }, `reconcile failed again: ${outcome.message}`)
  }

  /** Resolves once the work is over: whether another worker stands in. */
  const haveStandIn = async (over: AbortSignal): Promise<boolean> => {
    for (let waitMs = PATIENCE_MS; ; waitMs = LOOK_MS) {
      await clock.sleep(waitMs, over)
      if (over.aborted) return false
      if (standIns >= MAX_STAND_INS || !hasRoom()) continue
      standIns += 1
      begin('all')
      return true
    }
  }

  const reconcileOne = async (key: string): Promise<void> => {
    deps.onActive?.(++active)
    const startMs = monotonicMs(clock)
    const outcome = await attempt(key)
    deps.onActive?.(--active)
    deps.onReconcile?.(RESULTS[outcome.kind], monotonicMs(clock) - startMs)
    tell(key, outcome)
    queue.done(key, outcome)
  }

  const work = async (line: LineName): Promise<void> => {
    for (let key = await queue.take(line); key !== undefined; key = await queue.take(line)) {
      const over = new AbortController()
      const stoodIn = line === 'all' ? haveStandIn(over.signal) : undefined
      await reconcileOne(key)
      over.abort()
      if ((await stoodIn) !== true) continue
      standIns -= 1
      return
    }
  }

  const begin = (line: LineName): void => {
    const worker = work(line).finally(() => running.delete(worker))
    running.add(worker)
  }

  return {
    start() {
      if (isStarted) return
      isStarted = true
      for (let n = 0; n < workers; n++) begin('all')
      for (let n = 0; n < HANGING_WORKERS; n++) begin('hanging')
    },
    async stop() {
      queue.stop()
      await Promise.all(running)
    },
  }
}
