/** Runs something until the program is asked to end, then drains it (Decisions 2). */
import { beginDrain } from '../limits/drain-time.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { describeProblem } from './describe-problem.ts'
import { letHeapsGrow, RUNNING_GROWTH_PERCENT } from './heap-growth.ts'
import { keepCompiledCode } from './keep-compiled-code.ts'
import { type EndSignal, exitCodeOf, type SignalSource, watchSignals } from './signal-watch.ts'

/** Below the 25 s after which the specification's environment gives up on us. */
export const DRAIN_LIMIT_MS = 24_000

export interface Stoppable {
  stop(): Promise<void>
  /** Rejects when it cannot go on. */
  readonly failed?: Promise<never>
}

export interface RunDeps {
  readonly log: Log
  readonly clock: Clock
  readonly signals: SignalSource
}

type End = { readonly kind: 'signal'; readonly signal: EndSignal } | { readonly kind: 'failed'; readonly error: unknown }

/** The exit code: 0 after a drain that a signal asked for, 1 when it failed or did not drain in time, 128 + n on a second signal. */
export async function runUntilSignal(start: () => Promise<Stoppable>, { log, clock, signals }: RunDeps): Promise<number> {
  const watch = watchSignals(signals, clock.nowMs)
  const atOnce = watch.second.then(exitCodeOf)
  try {
    const running = await Promise.race([start(), atOnce])
    if (typeof running === 'number') return running
    keepCompiledCode()
    letHeapsGrow(RUNNING_GROWTH_PERCENT)
    const end = await endOf(running, watch.first)
    letHeapsGrow(0)
    if (end.kind === 'failed') log.error({ problem: describeProblem(end.error) }, 'cannot go on')
    else log.info({ signal: end.signal }, 'stopping')
    const drained = await Promise.race([drain(running, { log, clock }), atOnce])
    return end.kind === 'failed' ? 1 : drained
  } catch (error) {
    log.error({ problem: describeProblem(error) }, 'cannot start')
    return 1
  } finally {
    watch.close()
  }
}

function endOf(running: Stoppable, asked: Promise<EndSignal>): Promise<End> {
  const signal = asked.then((signal): End => ({ kind: 'signal', signal }))
  const failed = running.failed?.catch((error: unknown): End => ({ kind: 'failed', error }))
  return failed === undefined ? signal : Promise.race([signal, failed])
}

async function drain(running: Stoppable, { log, clock }: Pick<RunDeps, 'log' | 'clock'>): Promise<number> {
  const timer = new AbortController()
  const endDrain = beginDrain()
  const late = clock.sleep(DRAIN_LIMIT_MS, timer.signal).then(() => {
    if (!timer.signal.aborted) log.error({ limitMs: DRAIN_LIMIT_MS }, 'did not drain in time')
    return 1
  })
  try {
    return await Promise.race([running.stop().then(() => 0), late])
  } catch (error) {
    log.error({ error }, 'could not stop cleanly')
    return 1
  } finally {
    endDrain()
    timer.abort()
  }
}
