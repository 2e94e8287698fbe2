/** Work that is looked for again and again: at once when asked, more rarely while the store is away. */
import { type BackOffConfig, backOffMs } from '../../limits/back-off.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'

export interface PollLoopConfig {
  readonly clock: Clock
  readonly log: Log
  readonly name: string
  /** Pause after a round that found nothing left to do, ms. */
  readonly idleMs: number
  /** One round. Resolves to the pause until the next one where that is not `idleMs`. Errors of the search store end the round. */
  round(): Promise<number | undefined>
}

export interface PollLoop {
  /** There is something to do: the next round begins at once. */
  nudge(): void
  /** Resolves when the round under way has ended; none begins after it. */
  stop(): Promise<void>
}

/** A round may take this part of the time at most: a slow store is asked more rarely. */
const LOAD_SHARE = 0.2
const MAX_PAUSE_MS = 10_000
/** Tickets go out soon after the store is back. */
const FAILED: BackOffConfig = { firstMs: 500, maxMs: 1_500 }

export function startPollLoop({ clock, log, name, idleMs, round }: PollLoopConfig): PollLoop {
  const stopping = new AbortController()
  let wake = new AbortController()
  let failures = 0

  const turn = async (): Promise<number> => {
    const startMs = clock.nowMs()
    try {
      const pauseMs = await round()
      if (failures > 0) log.info({ loop: name, failures }, 'works again')
      failures = 0
      const ownMs = Math.max(0, clock.nowMs() - startMs) * (1 / LOAD_SHARE - 1)
      return Math.min(MAX_PAUSE_MS, Math.max(pauseMs ?? idleMs, pauseMs === undefined ? ownMs : 0))
    } catch (error) {
      failures++
      // The first and then about once in a minute.
      if (failures === 1 || failures % 50 === 0) log.warn({ error, loop: name, failures }, 'cannot do its work, tries again')
      return backOffMs(FAILED, failures)
    }
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController()
      const pauseMs = await turn()
      await clock.sleep(pauseMs, AbortSignal.any([wake.signal, stopping.signal]))
    }
  }
  const ended = run()
  return {
    nudge: () => wake.abort(),
    stop() {
      stopping.abort()
      return ended
    },
  }
}
