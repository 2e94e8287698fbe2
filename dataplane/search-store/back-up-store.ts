/** A copy of the whole store for a backup, without keeping writers waiting. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog } from './catalog/catalog.ts'
import { type DocumentDatabase, openDocumentDatabase } from './storage/document-table/document-database.ts'
import { nodeFiles } from './storage/log-engine/format/index-files.ts'
import { pinLog } from './storage/log-engine/pin-log.ts'
import type { PinnedFile } from './storage/pinned-file.ts'
import { Turns } from './turns.ts'

/** How long linking files may hold the thread, ms. */
const SLICE_MS = 4

export interface OpenStore {
  readonly dir: string
  readonly database: DocumentDatabase
  readonly catalog: Pick<Catalog, 'indices'>
}

/**
 * Makes a copy in `to`, which must be on the same file system. Log indices are of the time of the call, tables of the time when it
 * resolves: writers write incidents before the anomalies that name them, so the copy is a state that a crash could leave.
 */
export async function backUpStore({ dir, database, catalog }: OpenStore, to: string): Promise<readonly PinnedFile[]> {
  mkdirSync(to, { recursive: true })
  const pinned: PinnedFile[] = []
  const pinnedIndices = new Set<string>()
  const turns = new Turns(SLICE_MS)
  const pinIndices = async () => {
    for (const { uuid, storage } of catalog.indices) {
      if (pinnedIndices.has(uuid)) continue
      pinnedIndices.add(uuid)
      const target = join(to, 'indices', uuid)
      if (storage.pin !== undefined) pinned.push(...storage.pin(target))
      else if (storage.problem !== undefined) pinned.push(...pinLog(nodeFiles, join(dir, 'indices', uuid), target))
      if (turns.isDue()) await turns.next()
    }
  }
  await pinIndices()
  const tables = join(to, 'store.db')
  await database.backUp(tables)
  // Indices that were made meanwhile stand in the copy of the catalogue.
  await pinIndices()
  return [...pinned, { path: tables }]
}

/** The same of a store that no process has open. Throws when one has. */
export async function backUpClosedStore(dir: string, to: string): Promise<readonly PinnedFile[]> {
  mkdirSync(to, { recursive: true })
  const database = openDocumentDatabase(join(dir, 'store.db'))
  try {
    const indices = join(dir, 'indices')
    const pinned = (existsSync(indices) ? nodeFiles.list(indices) : []).flatMap(uuid =>
      pinLog(nodeFiles, join(indices, uuid), join(to, 'indices', uuid)),
    )
    const tables = join(to, 'store.db')
    await database.backUp(tables)
    return [...pinned, { path: tables }]
  } finally {
    database.close()
  }
}
