/** A store that has its documents, and no longer the file that says whose they are. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import { CatalogEntries } from './catalog-entries.ts'

/** Throws where `store.db` was made anew beside indices with documents: as ones that nobody names, they would be removed. */
export function refuseLostCatalogue(dir: string, database: DocumentDatabase): void {
  const isNew = database.catalogue('cluster').length === 0 && new CatalogEntries(database).indices().size === 0
  if (!isNew) return
  const root = join(dir, 'indices')
  const names = existsSync(root) ? readdirSync(root) : []
  const count = names.filter(name => holdsDocuments(join(root, name))).length
  if (count === 0) return
  throw new Error(
    `${join(dir, 'store.db')} is missing or empty, or has lost its -wal file, and it alone names the indices in ${root} (${count} with documents): ` +
      `put ${dir} back from a backup, or move ${root} away to begin anew`,
  )
}

/** Whether the directory is that of a log index with documents. */
export function holdsDocuments(dir: string): boolean {
  return statSync(dir).isDirectory() && readdirSync(dir).some(name => name.endsWith('.seg') && statSync(join(dir, name)).size > 0)
}
