/** Runs some threads of the bridge in a worker, and starts it again when it dies. */
import type { BridgeThread } from '../../contract/bridge-threads.ts'
import type { CountDeadLetters } from '../../pipeline/dead-letters/dead-letter.ts'
import { type RunState, supervise } from '../../pipeline/runners/supervise.ts'
import type { Clock } from '../../ports/clock.ts'
import { runWorker } from '../../process/run-worker.ts'
import type { Log } from '../../telemetry/log.ts'
import type { FromWorker, ToWorker, WorkerData } from './worker-messages.ts'

const ENTRY = new URL('./worker-entry.ts', import.meta.url)
const STOP_TIMEOUT_MS = 20_000

export interface WorkerHostDeps {
  readonly threads: readonly BridgeThread[]
  /** Data for one life of the worker; called again for each. */
  readonly data: (threads: readonly BridgeThread[]) => WorkerData
  /** A thread came into another state. */
  readonly onChange: () => void
  /** Resolves once the bus is there: before that a worker has nothing to do. Resolves early when `signal` is aborted. */
  readonly opened: (signal: AbortSignal) => Promise<void>
  readonly countDeadLetters: CountDeadLetters
  readonly clock: Clock
  readonly log: Log
}

/** Some of the bridge's threads, from outside: their state, and their end. */
export interface WorkerHost {
  state(thread: BridgeThread): RunState
  /** Lets them finish what they hold; ends them after 20 s. */
  stop(): Promise<void>
}

/** Runs threads in a worker, and starts another when the worker dies. Failures within their work they handle themselves, each for itself. */
export function startWorker({ threads, data, opened, onChange, countDeadLetters, clock, log }: WorkerHostDeps): WorkerHost {
  const stopping = new AbortController()
  const states = new Map<BridgeThread, RunState>(threads.map(thread => [thread, 'starting']))
  const setState = (thread: BridgeThread, state: RunState, error?: string) => {
    if (state === states.get(thread)) return
    states.set(thread, state)
    onChange()
    if (error === undefined) log.info({ thread, state }, 'thread state')
    else log.warn({ thread, state, error }, 'thread failed and is started again')
  }
  const oneLife = async () => {
    await opened(stopping.signal)
    if (stopping.signal.aborted) return
    const own = data(threads)
    const worker = {
      entry: ENTRY,
      name: threads.join('+'),
      data: own,
      transfer: [...own.bus.ports, ...(own.searchPort === undefined ? [] : [own.searchPort])],
      stopMessage: { kind: 'stop' } satisfies ToWorker,
      stopTimeoutMs: STOP_TIMEOUT_MS,
    }
    await runWorker<FromWorker>(worker, stopping.signal, message => {
      if (message.kind === 'state') setState(message.thread, message.state, message.error)
      else countDeadLetters(message.stage, message.tenant, message.letters)
    })
  }
  const done = supervise({
    run: oneLife,
    clock,
    signal: stopping.signal,
    onState: (state, error) => {
      for (const thread of threads) setState(thread, state, error?.message)
    },
  })
  return {
    state: thread => states.get(thread) ?? 'stopped',
    async stop() {
      stopping.abort()
      await done
    },
  }
}
