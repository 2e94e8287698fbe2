/** Storing log documents: the storage engine in this process, and the search role over REST. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createSearchStore } from '../../dataplane/adapters/search/search-store.ts'
import { INDEX_TEMPLATES } from '../../dataplane/domain/documents/index-templates.ts'
import type { BulkOperation } from '../../dataplane/ports/search-store.ts'
import { mappingConfigOf } from '../../dataplane/search-store/mapping/mapping-config.ts'
import { openLogIndex } from '../../dataplane/search-store/storage/log-engine/log-index.ts'
import { createByteCache } from '../../dataplane/search-store/storage/log-engine/sealed/byte-cache.ts'
import { startServer } from './server-process.ts'
import type { Stage } from './stage.ts'

const OPERATIONS_PER_BULK = 2_000
const CACHE_BYTES = 32 * 1024 * 1024

export async function prepareEngine(operations: readonly BulkOperation[]): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-engine-'))
  const index = await openLogIndex(
    { dir, name: 'service-logs-bench', mapping: logMapping() },
    { clock: { nowMs: Date.now }, cache: createByteCache(CACHE_BYTES), newUuid: randomUUID },
  )
  const sources = operations.map(({ body }) => (typeof body === 'string' ? Buffer.from(body) : body))
  return {
    async pass() {
      for (let from = 0; from < sources.length; from += OPERATIONS_PER_BULK) {
        const bulk = sources.slice(from, from + OPERATIONS_PER_BULK)
        const outcomes = await index.apply(bulk.map(source => ({ action: 'create', id: randomUUID(), source })))
        const failed = outcomes.find(outcome => 'error' in outcome)
        if (failed !== undefined) throw new Error(JSON.stringify(failed))
      }
      return sources.length
    },
    async stop() {
      await index.close()
      rmSync(dir, { recursive: true })
    },
  }
}

export async function prepareRest(operations: readonly BulkOperation[]): Promise<Stage> {
  const program = resolve(import.meta.dirname, '../../dataplane/main.ts')
  const server = await startServer(
    (port, dataDir) => ({
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', program, 'search'],
      env: { HOST: '127.0.0.1', SEARCH_PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    }),
    '/_cluster/health',
  )
  const store = createSearchStore({ endpoint: `http://127.0.0.1:${server.port}` })
  for (const [name, template] of Object.entries(INDEX_TEMPLATES)) await store.putIndexTemplate(name, template)
  return {
    serverPid: server.pid,
    async pass() {
      for (let from = 0; from < operations.length; from += OPERATIONS_PER_BULK) {
        const bulk = operations.slice(from, from + OPERATIONS_PER_BULK).map(operation => ({ ...operation, id: randomUUID() }))
        const failed = (await store.bulk(bulk)).find(outcome => outcome.status !== 'done')
        if (failed !== undefined) throw new Error(JSON.stringify(failed))
      }
      return operations.length
    },
    async stop() {
      await store.close()
      await server.remove()
    },
  }
}

function logMapping() {
  const { template } = INDEX_TEMPLATES['service-logs'] as { readonly template: { readonly mappings: object } }
  return mappingConfigOf(template.mappings, 3_000)
}
