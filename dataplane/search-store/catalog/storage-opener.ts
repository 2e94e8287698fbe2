/** Which storage an index lives in. */
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import type { MappingConfig } from '../mapping/mapping-config.ts'
import type { CommitQueue } from '../storage/document-table/commit-queue.ts'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import { openDocumentTable } from '../storage/document-table/document-table.ts'
import type { IndexStorage } from '../storage/index-storage.ts'
import { openLogIndex } from '../storage/log-engine/log-index.ts'
import type { ByteCache } from '../storage/log-engine/sealed/byte-cache.ts'
import type { WriteHealth } from '../write-health.ts'
import { holdsDocuments } from './lost-catalogue.ts'

export interface StorageConfig {
  readonly name: string
  readonly uuid: string
  readonly createdAtMs: number
  readonly isOfStream: boolean
  readonly mapping: MappingConfig
  /** The index was made before: where its files are not there, they are lost. */
  readonly isThere: boolean
}

export interface StorageOpener {
  /** Opens the storage of an index, or makes it. */
  open(config: StorageConfig): Promise<IndexStorage>
  /** Removes the storage of an index that is not open. */
  remove(uuid: string): Promise<void>
  /**
   * Removes storages that belong to none of the indices: those of `deleted` ones, and such as were never used. Resolves to the directories of others,
   * which hold documents and stay. Files of other names beside them are somebody's copies, and stay as well.
   */
  removeOrphans(uuids: ReadonlySet<string>, deleted: ReadonlySet<string>): Promise<readonly string[]>
}

export interface StorageOpenerDeps {
  readonly database: DocumentDatabase
  readonly queue: CommitQueue
  /** Shared by all log indices. */
  readonly cache: ByteCache
  readonly clock: Clock
  readonly writes: WriteHealth
}

/** Logs, anomalies and documents of data streams are many and hardly ever change. */
const isLogIndex = ({ name, isOfStream }: StorageConfig): boolean =>
  isOfStream || name.startsWith('service-logs-') || name.startsWith('service-anomalies-')

/** A UUID as the catalogue makes them. */
const OWN_NAME = /^[\w-]{22}$/

export function createStorageOpener(dir: string, { database, queue, cache, clock, writes }: StorageOpenerDeps): StorageOpener {
  const root = join(dir, 'indices')
  const removeTable = (uuid: string): void => {
    const row = database.findTable(uuid)
    if (row !== undefined) database.transaction(() => database.deleteTable(row.table_id))
  }
  return {
    async open(config) {
      if (!isLogIndex(config)) return openDocumentTable(config, database, queue)
      const { name, uuid, mapping, isThere } = config
      const directory = join(root, uuid)
      return openLogIndex({ dir: directory, name, mapping, isThere }, { clock, cache, writes, newUuid: () => uuid })
    },
    async remove(uuid) {
      removeTable(uuid)
      await rm(join(root, uuid), { recursive: true, force: true })
    },
    async removeOrphans(uuids, deleted) {
      for (const uuid of database.tableUuids()) if (!uuids.has(uuid)) removeTable(uuid)
      const directories = existsSync(root) ? await readdir(root) : []
      const unnamed: string[] = []
      for (const name of directories.filter(name => OWN_NAME.test(name) && !uuids.has(name))) {
        const directory = join(root, name)
        if (!deleted.has(name) && holdsDocuments(directory)) unnamed.push(directory)
        else await rm(directory, { recursive: true, force: true })
      }
      return unnamed
    },
  }
}
