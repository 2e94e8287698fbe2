import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { createSearchStore } from '../adapters/search/search-store.ts'
import type { SearchStore } from '../ports/search-store.ts'
import { createSearchServer } from '../search-store/search-server.ts'
import { createLocalRunner } from '../search-store/testing/local-runner.ts'
import { SILENT } from '../telemetry/log.ts'

/** The embedded search store in a directory of its own, as the OpenSearch client sees it. */
export async function startEmbeddedSearchStore(): Promise<{ readonly store: SearchStore; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-search-'))
  const server = createSearchServer({
    dir,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: SILENT,
    createQueryRunner: createLocalRunner,
  })
  await server.start()
  const store = createSearchStore({ endpoint: `http://127.0.0.1:${server.address!.port}` })
  return {
    store,
    async stop() {
      await store.close()
      await server.stop()
      rmSync(dir, { recursive: true })
    },
  }
}
