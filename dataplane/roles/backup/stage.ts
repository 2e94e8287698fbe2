/** Gathers under second names what belongs to a backup of a `DATA_DIR`: bus, search store and features of one moment (README). */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pinBus } from '../../adapters/bus/embedded/pin-bus.ts'
import type { PinnedFile } from '../../search-store/storage/pinned-file.ts'

/** In `DATA_DIR`, so that links can be made; removed once the backup is made, and at the next start after a kill. */
export const STAGE = 'backup-stage'

const FEATURES = join('features', 'features.db')
/** Parts that are gathered each in its own way, the lock, and what tells of the running process. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'bus',
  'search',
  'features',
  STAGE,
  'lock',
  'lock.holder',
  'search-address',
  'command.sock',
])

/** A file of the backup. */
export interface StagedFile {
  /** Below `DATA_DIR`. */
  readonly path: string
  /** Where its bytes are. */
  readonly from: string
  /** How many of them, from the beginning; absent: all. */
  readonly bytes?: number
}

/** Makes a copy of the search store in a directory. */
export type BackUpStore = (to: string) => Promise<readonly PinnedFile[]>

/** The stage must not be there. `backUpStore`: absent where the search store is not in this `DATA_DIR`. */
export async function stageBackup(dataDir: string, backUpStore: BackUpStore | undefined): Promise<readonly StagedFile[]> {
  const stage = join(dataDir, STAGE)
  mkdirSync(stage, { mode: 0o700 })
  // The order makes the copy sound: offsets, what is stored by them, the records behind them.
  const bus = pinBus(join(dataDir, 'bus'), join(stage, 'bus'))
  const stored = (await backUpStore?.(join(stage, 'search'))) ?? []
  const features = await backUpFeatures(dataDir, stage)
  return [...(bus?.end() ?? []), ...stored, ...features]
    .map(({ path, bytes }: PinnedFile): StagedFile => ({ path: relative(stage, path), from: path, ...(bytes !== undefined && { bytes }) }))
    .concat(otherFiles(dataDir, '').map(path => ({ path, from: join(dataDir, path) })))
}

export function removeStage(dataDir: string): void {
  rmSync(join(dataDir, STAGE), { recursive: true, force: true })
}

async function backUpFeatures(dataDir: string, stage: string): Promise<readonly PinnedFile[]> {
  if (!existsSync(join(dataDir, FEATURES))) return []
  const path = join(stage, FEATURES)
  mkdirSync(join(stage, 'features'))
  const database = new DatabaseSync(join(dataDir, FEATURES), { readOnly: true })
  try {
    await backup(database, path)
  } finally {
    database.close()
  }
  return [{ path }]
}

/** The key under which secrets are kept, certificates. */
function otherFiles(dataDir: string, below: string): readonly string[] {
  return readdirSync(join(dataDir, below), { withFileTypes: true }).flatMap(entry => {
    const path = join(below, entry.name)
    if (below === '' && NOT_COPIED.has(entry.name)) return []
    return entry.isDirectory() ? otherFiles(dataDir, path) : entry.isFile() ? [path] : []
  })
}
