/** The embedded search store in a thread of its own, started again when it dies. */
import { runWorker } from '../../lifecycle/run-worker.ts'
import { supervise } from '../../pipeline/runners/supervise.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { SearchThreadData, SearchThreadMessage } from './search-thread-entry.ts'

const WORKER = {
  entry: new URL('./search-thread-entry.ts', import.meta.url),
  name: 'search',
  // Bulk bodies and query results die young.
  youngGenerationMb: 32,
  stopMessage: 'stop',
  stopTimeoutMs: 15_000,
}

export interface SearchThread {
  readonly port: number
  stop(): Promise<void>
}

/** Runs the embedded search store in a thread of its own; resolves once it answers. A store that dies later is started again on the same port. */
export async function startSearchThread(deps: {
  readonly data: SearchThreadData
  readonly log: Log
  readonly clock: Clock
}): Promise<SearchThread> {
  const { log, clock } = deps
  const stopping = new AbortController()
  let { data } = deps
  let ended: Promise<void> = Promise.resolve()
  const port = await new Promise<number>((started, failed) => {
    let isFirst = true
    const run = async (ready: () => void) => {
      try {
        await runWorker<SearchThreadMessage>({ ...WORKER, data }, stopping.signal, ({ port: seen }) => {
          // The next life takes the same port, even when the system chose the first one.
          data = { ...data, port: seen }
          isFirst = false
          ready()
          started(seen)
        })
      } catch (error) {
        if (!isFirst) throw error
        stopping.abort()
        failed(error)
      }
    }
    ended = supervise({
      run,
      clock,
      signal: stopping.signal,
      onState(state, error) {
        if (error !== undefined) log.error({ error, state }, 'search thread failed and is started again')
      },
    })
  })
  return {
    port,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
