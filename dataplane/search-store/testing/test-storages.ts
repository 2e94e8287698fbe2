/** Both kinds of storage, filled with the same documents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { mappingConfigOf } from '../mapping/mapping-config.ts'
import { createCommitQueue } from '../storage/document-table/commit-queue.ts'
import { openDocumentDatabase } from '../storage/document-table/document-database.ts'
import { openDocumentTable } from '../storage/document-table/document-table.ts'
import type { IndexStorage, WriteOp } from '../storage/index-storage.ts'
import { openLogIndex } from '../storage/log-engine/log-index.ts'
import { createByteCache } from '../storage/log-engine/sealed/byte-cache.ts'

export interface FilledStorages {
  readonly table: IndexStorage
  /** Some of its documents sealed, some not, some deleted or changed. */
  readonly log: IndexStorage
  remove(): Promise<void>
}

/** `doc-<n>` for the n-th document; every seventh is written twice, every eleventh is deleted again. */
export async function fillStorages(documents: readonly Record<string, unknown>[], mappings: object): Promise<FilledStorages> {
  const dir = mkdtempSync(join(tmpdir(), 'storages-'))
  const mapping = mappingConfigOf(mappings)
  const database = openDocumentDatabase(join(dir, 'store.db'))
  const table = openDocumentTable({ name: 'table', uuid: 'table', createdAtMs: 0, mapping }, database, createCommitQueue(database))
  const log = await openLogIndex(
    { dir: join(dir, 'log'), name: 'log', mapping },
    { clock: createFakeClock(), cache: createByteCache(16 * 1024 * 1024), newUuid: () => 'log' },
  )
  const half = Math.floor(documents.length / 2)
  for (const storage of [table, log]) {
    await write(storage, documents.slice(0, half), 0)
    if (storage === log) await log.seal()
    await write(storage, documents.slice(half), half)
  }
  return {
    table,
    log,
    async remove() {
      await log.close()
      await table.close()
      database.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function write(storage: IndexStorage, documents: readonly Record<string, unknown>[], first: number): Promise<void> {
  const ops = documents.flatMap((document, at): WriteOp[] => {
    const id = `doc-${first + at}`
    const index: WriteOp = { action: 'index', id, source: Buffer.from(JSON.stringify(document)) }
    if ((first + at) % 7 === 3) return [index, { action: 'update', id, partial: Buffer.from('{"is_anomaly":true}') }]
    return (first + at) % 11 === 5 ? [index, { action: 'delete', id }] : [index]
  })
  await storage.apply(ops)
}
