import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads'

export interface WorkerConfig {
  readonly entry: URL
  readonly name: string
  /** Data that the worker starts with, and what of it is handed over rather than copied. */
  readonly data: unknown
  readonly transfer?: NonNullable<WorkerOptions['transferList']>
  /** The message that tells the worker to stop; a worker that has not stopped in time is ended. */
  readonly stopMessage: unknown
  readonly stopTimeoutMs: number
  /** Called with the way to send the worker messages, which leads nowhere once it has ended. */
  readonly onStarted?: (post: PostToWorker) => void
}

export type PostToWorker = (message: unknown, transfer: readonly Transferable[]) => void

/**
 * Runs a worker thread; resolves when it ends because `signal` aborted, rejects when it ends for any other reason.
 * The flag `--max-semi-space-size` of the process bounds the young generation of its heap, and goes before `resourceLimits`.
 */
export async function runWorker<Message>(config: WorkerConfig, signal: AbortSignal, onMessage: (message: Message) => void): Promise<void> {
  const worker = new Worker(config.entry, {
    workerData: config.data,
    name: config.name,
    ...(config.transfer !== undefined && { transferList: config.transfer }),
  })
  config.onStarted?.((message, transfer) => worker.postMessage(message, transfer))
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    worker.postMessage(config.stopMessage)
    timer = setTimeout(() => void worker.terminate(), config.stopTimeoutMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await new Promise<void>((done, fail) => {
      worker.on('message', onMessage)
      worker.once('error', fail)
      worker.once('exit', code => {
        if (signal.aborted) done()
        else fail(new Error(`thread ${config.name} ended with code ${code}`))
      })
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
