import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDiskFull } from './full-disk.ts'

/** Less than a batch of documents takes. */
const PROBE_BYTES = 1024 * 1024

/** Whether the disk, and the share of its user, take another batch. Found out by writing, since the free bytes of a disk say nothing of shares. */
export async function hasDiskRoom(dir: string): Promise<boolean> {
  try {
    await writeNameless(join(dir, `room-${randomUUID()}.probe`))
    return true
  } catch (error) {
    if (isDiskFull(error)) return false
    throw error
  }
}

/** The file goes when it is closed. */
async function writeNameless(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await rm(path)
    await file.writeFile(Buffer.alloc(PROBE_BYTES))
  } finally {
    await file.close()
  }
}
