/** The online store in one SQLite file, for a single machine. Threads and processes may share the file. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as giveWay } from 'node:timers/promises'
import {
  type FeatureKey,
  type FeatureRow,
  type FeatureValues,
  type OnlineStore,
  OnlineStoreUnavailable,
} from '../../../ports/online-store.ts'
import { makeDurableDirectory } from '../../../process/durable-directory.ts'

/** `rev` counts writes, so that readers see changes of others. */
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -256;
  CREATE TABLE IF NOT EXISTS features (
    tenant TEXT NOT NULL, service TEXT NOT NULL, vals TEXT NOT NULL, event_ms INTEGER NOT NULL, written_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, service)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS revision (id INTEGER PRIMARY KEY CHECK (id = 1), rev INTEGER NOT NULL);
  INSERT OR IGNORE INTO revision VALUES (1, 0);
`
/** Primary codes of SQLite's errors. */
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const COLUMNS = 'tenant, service, vals, event_ms, written_ms'
const PAGE_ROWS = 1_000
/** Longest wait for another writer. */
const LOCK_WAIT_MS = 2_000

interface StoredRow {
  readonly tenant: string
  readonly service: string
  readonly vals: string
  readonly event_ms: number
  readonly written_ms: number
}

/**
 * Opens the store in `directory`, making it where it is missing; throws when the file cannot be used. On a disk that is full, or fails, the store is away
 * until there is room: who starts on a full disk goes on without features.
 */
export function openEmbeddedOnlineStore(directory: string): OnlineStore {
  makeDurableDirectory(directory)
  let opened: OnlineStore | undefined
  let isClosed = false
  const store = (): OnlineStore =>
    attempt(() => {
      if (isClosed) throw new Error('it is closed')
      opened ??= openFile(join(directory, 'features.db'))
      return opened
    })
  try {
    store()
  } catch (error) {
    const { cause } = error as Error
    if (!isOfDisk(cause)) throw cannotOpen(join(directory, 'features.db'), cause as Error)
  }
  return {
    write: async rows => await store().write(rows),
    read: async keys => await store().read(keys),
    async *scan() {
      yield* store().scan()
    },
    remove: async keys => await store().remove(keys),
    version: async () => await store().version(),
    async close() {
      isClosed = true
      await opened?.close()
    },
  }
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  try {
    database.exec(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function openFile(path: string): OnlineStore {
  const database = openDatabase(path)
  const readOne = database.prepare(`SELECT ${COLUMNS} FROM features WHERE tenant = ? AND service = ?`)
  const readPage = database.prepare(
    `SELECT ${COLUMNS} FROM features WHERE (tenant, service) > (?, ?) ORDER BY tenant, service LIMIT ${PAGE_ROWS}`,
  )
  const writeOne = database.prepare(`INSERT OR REPLACE INTO features (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`)
  const removeOne = database.prepare('DELETE FROM features WHERE tenant = ? AND service = ?')
  const readRevision = database.prepare('SELECT rev FROM revision')
  const addRevision = database.prepare('UPDATE revision SET rev = rev + 1')

  const find = (tenant: string, service: string) => toRow(readOne.get(tenant, service) as StoredRow | undefined)
  const pageAfter = ({ tenant, service }: FeatureKey) =>
    attempt(() => readPage.all(tenant, service) as unknown as StoredRow[]).map(row => toRow(row))
  const change = (apply: () => void) =>
    attempt(() => {
      database.exec('BEGIN IMMEDIATE')
      try {
        apply()
        addRevision.run()
        database.exec('COMMIT')
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    })

  return {
    async write(rows) {
      if (rows.length === 0) return
      change(() => {
        for (const { tenant, service, values, eventMs, writtenMs } of rows) {
          const merged = { ...find(tenant, service)?.values, ...values }
          writeOne.run(tenant, service, JSON.stringify(merged), eventMs, writtenMs)
        }
      })
    },
    read: async keys => attempt(() => keys.map(({ tenant, service }) => find(tenant, service))),
    async *scan() {
      let after: FeatureKey | undefined = { tenant: '', service: '' }
      while (after !== undefined) {
        const page: readonly FeatureRow[] = pageAfter(after)
        if (page.length > 0) yield page
        after = page.length < PAGE_ROWS ? undefined : page.at(-1)
        if (after !== undefined) await giveWay()
      }
    },
    async remove(keys) {
      if (keys.length === 0) return
      change(() => {
        for (const { tenant, service } of keys) removeOne.run(tenant, service)
      })
    },
    version: async () => attempt(() => String((readRevision.get() as { rev: number }).rev)),
    async close() {
      if (database.isOpen) database.close()
    },
  }
}

function toRow(stored: StoredRow): FeatureRow
function toRow(stored: StoredRow | undefined): FeatureRow | undefined
function toRow(stored: StoredRow | undefined): FeatureRow | undefined {
  if (stored === undefined) return undefined
  const { tenant, service, vals, event_ms: eventMs, written_ms: writtenMs } = stored
  return { tenant, service, values: JSON.parse(vals) as FeatureValues, eventMs, writtenMs }
}

function isOfDisk(error: unknown): boolean {
  const code = codeOf(error)
  return code === SQLITE_FULL || code === SQLITE_IOERR
}

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined

function cannotOpen(path: string, cause: Error): Error {
  const isDamaged = codeOf(cause) === SQLITE_CORRUPT || codeOf(cause) === SQLITE_NOTADB
  const advice = isDamaged ? '; put it back from a backup, or move it away: the next run of feature_compute writes features anew' : ''
  return new Error(`cannot open ${path}: ${cause.message}${advice}`, { cause })
}

/** A file that is locked, full or damaged is to its users a store that is away. */
function attempt<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new OnlineStoreUnavailable(`the embedded online store failed: ${(error as Error).message}`, { cause: error })
  }
}
