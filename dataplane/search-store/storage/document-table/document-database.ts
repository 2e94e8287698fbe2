/** The SQLite file that holds every small index and the catalogue. One thread, one connection. */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite'
import { promisify } from 'node:util'

export interface DocumentRow {
  readonly id: string
  readonly seq_no: number
  readonly version: number
  readonly source: Uint8Array
}

export interface TableRow {
  readonly table_id: number
  readonly next_seq_no: number
  readonly mapping: string
}

/** Statements over the file; every write takes part in the caller's `transaction`. */
export interface DocumentDatabase {
  /** Commits what `body` wrote, durably, or takes it back when it (or the commit) throws. */
  transaction<T>(body: () => T): T
  /**
   * The same, and others run while the disk works. Resolves once it is durable; until then nothing may count on it. `takeBack` undoes in a
   * transaction of its own what `body` wrote, where the disk has failed.
   */
  transactionInTurns(body: () => void, takeBack: () => void): Promise<void>
  findTable(uuid: string): TableRow | undefined
  insertTable(uuid: string, mapping: string): number
  saveTable(tableId: number, nextSeqNo: number, mapping: string): void
  deleteTable(tableId: number): void
  tableUuids(): readonly string[]
  documents(tableId: number): IterableIterator<DocumentRow>
  /** Overwrites a document of the same id; it then counts as the newest. */
  putDocument(tableId: number, row: DocumentRow): void
  deleteDocument(tableId: number, id: string): void
  catalogue(kind: string): readonly { readonly name: string; readonly body: string }[]
  putEntry(kind: string, name: string, body: string): void
  deleteEntry(kind: string, name: string): void
  /** Every entry whose name starts with `prefix`, which ends in a slash. */
  deleteEntriesBelow(kind: string, prefix: string): void
  /** Copies the whole file, in portions between which others write: the copy is of the time when it resolves. */
  backUp(path: string): Promise<void>
  close(): void
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS tables (
  table_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, next_seq_no INTEGER NOT NULL, mapping TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS documents (
  arrival INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, id TEXT NOT NULL, seq_no INTEGER NOT NULL, version INTEGER NOT NULL,
  source BLOB NOT NULL, UNIQUE (table_id, id)
) STRICT;
CREATE TABLE IF NOT EXISTS catalogue (kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID;
`

/** Held exclusively: a second process is refused, and a killed one lets go. */
const PRAGMAS =
  'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 0; PRAGMA journal_size_limit = 16777216;'
/** Commits with a sync of their own, and those whose write-ahead log is synced by hand: a commit counts once that log is on disk. */
const SYNCED = 'PRAGMA synchronous = FULL'
const UNSYNCED = 'PRAGMA synchronous = NORMAL'
const SQLITE_BUSY = 5
/** Pages of 4 KiB that are copied while a writer waits. */
const BACKUP_PAGES = 512

/** Opens or creates the file. Throws when another process holds it or it is no database. */
export function openDocumentDatabase(path: string): DocumentDatabase {
  const database = openExclusively(path)
  const prepared = new Map<string, StatementSync>()
  const sql = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  const log = openLog(`${path}-wal`)
  return {
    transaction: body => inTransaction(database, body),
    async transactionInTurns(body, takeBack) {
      database.exec(UNSYNCED)
      try {
        inTransaction(database, body)
      } finally {
        database.exec(SYNCED)
      }
      try {
        await dataSync(log)
      } catch (error) {
        inTransaction(database, takeBack)
        throw error
      }
    },
    findTable: uuid => sql('SELECT table_id, next_seq_no, mapping FROM tables WHERE uuid = ?').get(uuid) as TableRow | undefined,
    insertTable: (uuid, mapping) =>
      Number(sql('INSERT INTO tables (uuid, next_seq_no, mapping) VALUES (?, 0, ?)').run(uuid, mapping).lastInsertRowid),
    saveTable: (tableId, nextSeqNo, mapping) =>
      void sql('UPDATE tables SET next_seq_no = ?, mapping = ? WHERE table_id = ?').run(nextSeqNo, mapping, tableId),
    deleteTable: tableId => {
      sql('DELETE FROM documents WHERE table_id = ?').run(tableId)
      sql('DELETE FROM tables WHERE table_id = ?').run(tableId)
    },
    tableUuids: () =>
      sql('SELECT uuid FROM tables')
        .all()
        .map(row => String(row['uuid'])),
    documents: tableId =>
      sql('SELECT id, seq_no, version, source FROM documents WHERE table_id = ? ORDER BY arrival').iterate(
        tableId,
      ) as unknown as IterableIterator<DocumentRow>,
    putDocument: (tableId, row) =>
      void sql('INSERT OR REPLACE INTO documents (table_id, id, seq_no, version, source) VALUES (?, ?, ?, ?, ?)').run(
        tableId,
        row.id,
        row.seq_no,
        row.version,
        row.source,
      ),
    deleteDocument: (tableId, id) => void sql('DELETE FROM documents WHERE table_id = ? AND id = ?').run(tableId, id),
    catalogue: kind =>
      sql('SELECT name, body FROM catalogue WHERE kind = ? ORDER BY name').all(kind) as unknown as { name: string; body: string }[],
    putEntry: (kind, name, body) => void sql('INSERT OR REPLACE INTO catalogue (kind, name, body) VALUES (?, ?, ?)').run(kind, name, body),
    deleteEntry: (kind, name) => void sql('DELETE FROM catalogue WHERE kind = ? AND name = ?').run(kind, name),
    // The character after the slash ends the range of names.
    deleteEntriesBelow: (kind, prefix) =>
      void sql('DELETE FROM catalogue WHERE kind = ? AND name >= ? AND name < ?').run(kind, prefix, `${prefix.slice(0, -1)}0`),
    async backUp(path) {
      await backup(database, path, { rate: BACKUP_PAGES })
    },
    close() {
      closeSync(log)
      database.close()
    },
  }
}

function openExclusively(path: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec(PRAGMAS)
    // A first write takes the lock.
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`)
    return database
  } catch (cause) {
    database?.close()
    if (typeof cause === 'object' && cause !== null && 'errcode' in cause && cause.errcode === SQLITE_BUSY)
      throw new Error(`${path} is in use by another process`, { cause })
    throw openingFailed(path, cause)
  }
}

/** SQLite's words, with what to do about them. */
function openingFailed(path: string, cause: unknown): Error {
  const code = typeof cause === 'object' && cause !== null && 'errcode' in cause ? Number(cause.errcode) & PRIMARY_CODE : 0
  const remedy = REMEDIES.get(code)?.(path) ?? ''
  return new Error(`cannot open ${path}: ${cause instanceof Error ? cause.message : String(cause)}${remedy}`, { cause })
}

/** Bits of the primary code in an extended one. */
const PRIMARY_CODE = 0xff
const isDamaged = (path: string) =>
  `: put ${dirname(path)} back from a backup, or move it away to begin anew. It names all indices: put back alone, an older one does not know those of later days`
const REMEDIES: ReadonlyMap<number, (path: string) => string> = new Map([
  [8, path => `: ${dirname(path)} and what is in it must be writable for this user`],
  [11, isDamaged],
  [14, path => `: ${dirname(path)} and what is in it must be readable and writable for this user`],
  [26, isDamaged],
])

const dataSync = promisify(fdatasync)

/** The write-ahead log, which is there while the file is open, and after a crash. */
function openLog(path: string): number {
  const log = openSync(path, 'r+')
  const directory = openSync(dirname(path), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
  return log
}

function inTransaction<T>(database: DatabaseSync, body: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = body()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite may have rolled back by itself (full disk).
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
