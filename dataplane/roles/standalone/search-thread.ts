/** The embedded search store in a thread of its own, started again when it dies. */
import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { supervise } from '../../pipeline/runners/supervise.ts'
import type { Clock } from '../../ports/clock.ts'
import { type PostToWorker, runWorker } from '../../process/run-worker.ts'
import type { PinnedFile } from '../../search-store/storage/pinned-file.ts'
import type { Log } from '../../telemetry/log.ts'
import type { BackUpAnswer, SearchThreadData, SearchThreadMessage, ToSearchThread } from './search-thread-entry.ts'

const WORKER = {
  entry: new URL('./search-thread-entry.ts', import.meta.url),
  name: 'search',
  stopMessage: { kind: 'stop' } satisfies ToSearchThread,
  stopTimeoutMs: 15_000,
}

export interface SearchThread {
  readonly port: number
  /** A port for bulks from another thread; it is closed when the store's thread ends. */
  connect(): MessagePort
  /** As the store has it (`search-server.ts`). One at a time. */
  backUp(to: string): Promise<readonly PinnedFile[]>
  stop(): Promise<void>
}

/** Runs the embedded search store in a thread of its own; resolves once it answers. A store that dies later is started again on the same port. */
export async function startSearchThread(deps: {
  readonly data: Omit<SearchThreadData, 'backUps'>
  readonly log: Log
  readonly clock: Clock
}): Promise<SearchThread> {
  const { log, clock } = deps
  const stopping = new AbortController()
  let { data } = deps
  let ended: Promise<void> = Promise.resolve()
  /** Undefined while none runs. */
  let post: PostToWorker | undefined
  const onStarted = (started: PostToWorker) => {
    post = started
  }
  let backUps: MessagePort | undefined
  const port = await new Promise<number>((started, failed) => {
    let isFirst = true
    const run = async (ready: () => void) => {
      try {
        const { port1, port2 } = new MessageChannel()
        backUps = port1
        const config = { ...WORKER, data: { ...data, backUps: port2 } satisfies SearchThreadData, transfer: [port2], onStarted }
        await runWorker<SearchThreadMessage>(config, stopping.signal, ({ port: seen }) => {
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
      } finally {
        post = undefined
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
    connect() {
      const { port1: own, port2: other } = new MessageChannel()
      if (post === undefined) own.close()
      else post({ kind: 'connect', port: own } satisfies ToSearchThread, [own])
      return other
    },
    async backUp(to) {
      if (backUps === undefined) throw new Error('the search store does not run')
      const over = new AbortController()
      // A thread that ends closes its port.
      const ended = once(backUps, 'close', { signal: over.signal }).then(() => ({ problem: 'the search store ended' }))
      const answered = once(backUps, 'message', { signal: over.signal }).then(([answer]) => answer as BackUpAnswer)
      for (const each of [ended, answered]) each.catch(() => undefined)
      backUps.postMessage(to)
      const answer = await Promise.race([answered, ended]).finally(() => over.abort())
      if ('problem' in answer) throw new Error(answer.problem)
      return answer.files
    },
    async stop() {
      stopping.abort()
      backUps?.close()
      await ended
    },
  }
}
