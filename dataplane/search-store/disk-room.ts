import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDiskFull } from './full-disk.ts'

/** Less than a batch of documents takes. */
const PROBE_BYTES = 1024 * 1024

/** As OpenSearch has it for the indices of a node whose disk is nearly full. */
const FULL = 'disk is full, index has read-only-allow-delete block'

/** Why the disk, or the share of its user, does not take another batch. Found out by writing, since the free bytes of a disk say nothing of shares. */
export async function diskProblem(dir: string): Promise<string | undefined> {
  try {
    await writeNameless(join(dir, `room-${randomUUID()}.probe`))
    return undefined
  } catch (error) {
    return isDiskFull(error) ? FULL : (error as Error).message
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
