import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Lies in a `DATA_DIR` while it is made from a backup; its text is the backup's directory. */
export const RESTORE_MARK = 'restore.unfinished'

/** Throws where a restore was broken off: what lies there is a part of a backup. */
export function refuseUnfinishedRestore(dataDir: string): void {
  const mark = join(dataDir, RESTORE_MARK)
  if (!existsSync(mark)) return
  const backup = readFileSync(mark, 'utf8').trim()
  throw new Error(
    `DATA_DIR: ${dataDir} holds a part of a backup, since a restore was broken off; run \`logpipeline restore ${backup}\` again`,
  )
}
