/** Entry of the search store's worker thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import type { LogLevel } from '../../contract/env.ts'
import { giveBackGarbage } from '../../memory/give-back-garbage.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import { createLogger } from '../../telemetry/logger.ts'

/** The start message of the thread (`workerData`). */
export interface SearchThreadData {
  readonly directory: string
  readonly host: string
  readonly port: number
  readonly logLevel: LogLevel
  readonly logFormat: 'json' | 'readable'
}

/** Sent once the store listens. */
export interface SearchThreadMessage {
  readonly port: number
}

giveBackGarbage(systemClock)
const { directory, host, port, logLevel, logFormat } = workerData as SearchThreadData
const log = createLogger({ level: logLevel, format: logFormat, fields: { role: 'search' } })
const server = createSearchServer({ dir: directory, host, port, clock: systemClock, log })
parentPort!.once('message', async () => {
  await server.stop()
  parentPort!.close()
})
await server.start()
parentPort!.postMessage({ port: server.address!.port } satisfies SearchThreadMessage)
