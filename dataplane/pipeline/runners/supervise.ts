import { backOffMs } from '../../limits/back-off.ts'
import type { Clock } from '../../ports/clock.ts'

export type RunState = 'starting' | 'running' | 'restarting' | 'stopped'

export interface SuperviseDeps {
  /** One life of the thing; `ready` is called when it works. Resolving means that it was asked to stop. */
  readonly run: (ready: () => void) => Promise<void>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onState: (state: RunState, error?: Error) => void
  /** First wait after a failure, ms; grows up to `maxBackoffMs`, and starts over after a life longer than that. */
  readonly minBackoffMs?: number
  readonly maxBackoffMs?: number
}

/** Runs something for as long as `signal` allows, starting it again with back-off whenever it fails. */
export async function supervise(deps: SuperviseDeps): Promise<void> {
  const { run, clock, signal, onState, minBackoffMs = 200, maxBackoffMs = 30_000 } = deps
  let failures = 0
  onState('starting')
  while (!signal.aborted) {
    const startedMs = clock.nowMs()
    try {
      await run(() => onState('running'))
    } catch (error) {
      onState('restarting', error instanceof Error ? error : new Error(String(error)))
      failures = clock.nowMs() - startedMs > maxBackoffMs ? 1 : failures + 1
      await clock.sleep(backOffMs({ firstMs: minBackoffMs, maxMs: maxBackoffMs }, failures), signal)
    }
  }
  onState('stopped')
}
