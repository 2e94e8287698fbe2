/** Disk that is kept for deletions: on a full disk the catalogue could not note that an index is to go, and nothing could make room. */
import { randomBytes } from 'node:crypto'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Enough for the catalogue's note of thousands of indices. */
const RESERVE_BYTES = 1024 * 1024

export interface DeletionReserve {
  /** Gives the disk back. Whether there was any. */
  spend(): boolean
  /** Takes it again where it was spent, once the disk has as much. Never throws. */
  refill(): void
}

export const NO_RESERVE: DeletionReserve = { spend: () => false, refill: () => undefined }

export function createDeletionReserve(dir: string): DeletionReserve {
  const path = join(dir, 'deletions.reserve')
  let isFull = statSync(path, { throwIfNoEntry: false })?.size === RESERVE_BYTES
  return {
    spend() {
      if (!isFull) return false
      isFull = false
      rmSync(path, { force: true })
      return true
    },
    refill() {
      if (isFull) return
      try {
        // A disk that packs files would keep no room for zeros.
        writeFileSync(path, randomBytes(RESERVE_BYTES), { mode: 0o600 })
        isFull = true
      } catch {
        // Those who write documents tell of a disk that is full or fails.
        giveUp(path)
      }
    },
  }
}

function giveUp(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It is written over the next time.
  }
}
