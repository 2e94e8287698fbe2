import { backOffMs } from '../../limits/back-off.ts'
import type { Clock } from '../../ports/clock.ts'

export type RunState = 'starting' | 'running' | 'restarting' | 'stopped'

export interface SuperviseDeps {
  /** One life of the thing; `ready` is called when it works. Resolving means that it was asked to stop. */
  readonly run: (ready: () => void) => Promise<void>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onState: (state: RunState, error?: Error) => void
}

/** The wait after a failure; it starts over after a life longer than the longest. */
const BACK_OFF = { firstMs: 200, maxMs: 30_000 }

/** Runs something for as long as `signal` allows, starting it again with back-off whenever it fails. */
export async function supervise(deps: SuperviseDeps): Promise<void> {
  const { run, clock, signal, onState } = deps
  let failures = 0
  onState('starting')
  while (!signal.aborted) {
    const startedMs = clock.nowMs()
    try {
      await run(() => onState('running'))
    } catch (error) {
      onState('restarting', error instanceof Error ? error : new Error(String(error)))
      failures = clock.nowMs() - startedMs > BACK_OFF.maxMs ? 1 : failures + 1
      await clock.sleep(backOffMs(BACK_OFF, failures), signal)
    }
  }
  onState('stopped')
}
