/** Entry of the search store's worker thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import type { LogLevel } from '../../contract/env.ts'
import { giveBackGarbage } from '../../memory/give-back-garbage.ts'
import { keepCompiledCode } from '../../process/keep-compiled-code.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import type { PinnedFile } from '../../search-store/storage/pinned-file.ts'
import { createLogger } from '../../telemetry/logger.ts'

/** The start message of the thread (`workerData`). */
export interface SearchThreadData {
  readonly directory: string
  readonly host: string
  readonly port: number
  readonly logLevel: LogLevel
  readonly logFormat: 'json' | 'readable'
  /** Takes directories for backups, and gives a `BackUpAnswer` to each. */
  readonly backUps: MessagePort
}

export type ToSearchThread =
  | { readonly kind: 'stop' }
  /** Bulks come through it, besides HTTP. */
  | { readonly kind: 'connect'; readonly port: MessagePort }

export type BackUpAnswer = { readonly files: readonly PinnedFile[] } | { readonly problem: string }

/** Sent once the store listens. */
export interface SearchThreadMessage {
  readonly port: number
}

/** The other servers of the process have stopped by then, which may have taken most of its time. */
const DRAIN_MS = 5_000

giveBackGarbage()
const { directory, host, port, logLevel, logFormat, backUps } = workerData as SearchThreadData
const log = createLogger({ level: logLevel, format: logFormat, fields: { role: 'search' } })
const server = createSearchServer({ dir: directory, host, port, clock: systemClock, log, drainMs: DRAIN_MS })
backUps.on('message', (to: string) => void backUp(to))
parentPort!.on('message', async (message: ToSearchThread) => {
  if (message.kind === 'connect') return server.attach(message.port)
  backUps.close()
  await server.stop()
  parentPort!.close()
})
await server.start()
parentPort!.postMessage({ port: server.address!.port } satisfies SearchThreadMessage)
keepCompiledCode()

async function backUp(to: string): Promise<void> {
  const answer: BackUpAnswer = await server.backUp(to).then(
    files => ({ files }),
    (error: Error) => ({ problem: error.message }),
  )
  backUps.postMessage(answer)
}
