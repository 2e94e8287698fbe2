import { Worker } from 'node:worker_threads'
import { supervise } from '../../pipeline/runners/supervise.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { SearchThreadData, SearchThreadMessage } from './search-thread-entry.ts'

const ENTRY = new URL('./search-thread-entry.ts', import.meta.url)
/** Young generation of the thread's heap, MB: bulk bodies and query results die young. */
const YOUNG_GENERATION_MB = 32
const STOP_TIMEOUT_MS = 15_000

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
        await runWorker(data, stopping.signal, seen => {
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

async function runWorker(data: SearchThreadData, signal: AbortSignal, onListening: (port: number) => void): Promise<void> {
  const worker = new Worker(ENTRY, {
    workerData: data,
    name: 'search',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    worker.postMessage('stop')
    timer = setTimeout(() => void worker.terminate(), STOP_TIMEOUT_MS)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    await new Promise<void>((done, fail) => {
      worker.on('message', ({ port }: SearchThreadMessage) => onListening(port))
      worker.once('error', fail)
      worker.once('exit', code => {
        if (signal.aborted) done()
        else fail(new Error(`search thread ended with code ${code}`))
      })
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
