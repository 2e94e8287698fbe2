import type { BridgeThread } from '../../contract/counters.ts'
import { runWorker } from '../../lifecycle/run-worker.ts'
import { type RunState, supervise } from '../../pipeline/runners/supervise.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'

const ENTRY = new URL('./thread-entry.ts', import.meta.url)
/** Young generation of a thread's heap, MB: batches die young, and a small one makes them survive into the old. */
const YOUNG_GENERATION_MB = 20
const STOP_TIMEOUT_MS = 20_000

export interface ThreadHostDeps {
  readonly thread: BridgeThread
  /** Data for one life of the thread; called again for each. */
  readonly data: () => ThreadData
  readonly clock: Clock
  readonly log: Log
}

/** One of the bridge's threads, from outside: its state, and its end. */
export interface ThreadHost {
  state(): RunState
  /** Lets it finish what it holds; ends it after 20 s. */
  stop(): Promise<void>
}

/** Runs one thread in a worker of its own, and starts another when the worker dies. Failures within its work it handles itself. */
export function startThread({ thread, data, clock, log }: ThreadHostDeps): ThreadHost {
  const stopping = new AbortController()
  let state: RunState = 'starting'
  const setState = (next: RunState, error?: string) => {
    if (next === state) return
    state = next
    if (error === undefined) log.info({ thread, state }, 'thread state')
    else log.warn({ thread, state, error }, 'thread failed and is started again')
  }
  const oneLife = () => {
    const own = data()
    const worker = {
      entry: ENTRY,
      name: thread,
      data: own,
      transfer: [own.bus.port],
      youngGenerationMb: YOUNG_GENERATION_MB,
      stopMessage: { kind: 'stop' } satisfies ToThread,
      stopTimeoutMs: STOP_TIMEOUT_MS,
    }
    return runWorker<FromThread>(worker, stopping.signal, ({ state: next, error }) => setState(next, error))
  }
  const done = supervise({
    run: oneLife,
    clock,
    signal: stopping.signal,
    onState: (next, error) => setState(next, error?.message),
  })
  return {
    state: () => state,
    async stop() {
      stopping.abort()
      await done
    },
  }
}
