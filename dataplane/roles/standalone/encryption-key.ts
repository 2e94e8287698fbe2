/** The key under which standalone keeps secrets: made once, in `DATA_DIR` (Decisions 8). */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ENCRYPTION_KEYS } from '../../contract/setting.ts'
import { syncDirectory } from '../../process/durable-directory.ts'

const FILE = 'encryption-key'
const KEY_BYTES = 32

/** As `ENCRYPTION_KEY` has it. The caller holds the directory's lock. Throws when the file holds something else. */
export function readOrMakeEncryptionKey(dataDir: string): string {
  const path = join(dataDir, FILE)
  const text = readKey(path) ?? makeKey(dataDir, path)
  if (!ENCRYPTION_KEYS.schema.safeParse(text).success) throw new Error(`${path}: expected ${ENCRYPTION_KEYS.expected}, seen something else`)
  return text
}

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path}: expected a file that can be read, seen ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}

/** The file of the key gets its name once the whole key is on the disk: a key that is cut off would open nothing of what the whole one encrypted. */
function makeKey(dataDir: string, path: string): string {
  const key = randomBytes(KEY_BYTES).toString('base64')
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${key}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  syncDirectory(dataDir)
  return key
}
