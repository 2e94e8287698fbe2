import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { createSearchStore } from '../adapters/search/search-store.ts'
import type { SearchStore } from '../ports/search-store.ts'
import { createSearchServer } from '../search-store/search-server.ts'
import { createLocalRunner } from '../search-store/testing/local-runner.ts'
import { SILENT } from '../telemetry/log.ts'

export interface EmbeddedSearchStore {
  readonly store: SearchStore
  readonly endpoint: string
  readonly dir: string
  /** A port for bulks. */
  connect(): MessagePort
  /** Closes it, lets something happen to its directory, and opens it again at the same address. */
  restart(meanwhile: () => unknown): Promise<void>
  stop(): Promise<void>
}

/** The embedded search store in a directory of its own, as the OpenSearch client sees it. */
export async function startEmbeddedSearchStore(): Promise<EmbeddedSearchStore> {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-search-'))
  const open = async (port: number) => {
    const server = createSearchServer({
      dir,
      host: '127.0.0.1',
      port,
      clock: systemClock,
      log: SILENT,
      createQueryRunner: createLocalRunner,
    })
    await server.start()
    return server
  }
  let server = await open(0)
  const { port } = server.address!
  const endpoint = `http://127.0.0.1:${port}`
  const store = createSearchStore({ endpoint })
  return {
    store,
    endpoint,
    dir,
    connect() {
      const { port1, port2 } = new MessageChannel()
      server.attach(port1)
      return port2
    },
    async restart(meanwhile) {
      await server.stop()
      await meanwhile()
      server = await open(port)
    },
    async stop() {
      await store.close()
      await server.stop()
      rmSync(dir, { recursive: true })
    },
  }
}
