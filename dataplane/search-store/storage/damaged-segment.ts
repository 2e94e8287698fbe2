/** A segment of which a part cannot be read as it was written. */
import { SnapshotGone } from './index-copy.ts'
import type { Segment } from './index-storage.ts'

export class DamagedSegment extends Error {
  readonly segment: Segment

  constructor(segment: Segment, message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'DamagedSegment'
    this.segment = segment
  }
}

const MADE_ANEW = 'it is made anew from the documents beside it; until then searches that need it leave the documents of this segment out'
const RESTORED =
  'restore its directory from a backup and start again, or delete the index; searches that need this part leave the documents of this segment out'

/**
 * The error to throw for a read that failed: damage, unless the system refused it or the file is gone. `placeOf` is asked only for damage that was not
 * known. `commitsEnd`: behind it stands what is made anew from the documents before it.
 */
export function damageOf(
  segment: Segment,
  path: string,
  placeOf: () => number,
  error: unknown,
  commitsEnd = Number.POSITIVE_INFINITY,
): unknown {
  if (error instanceof SnapshotGone) return error
  // Found by way of the same file with other deletions.
  if (error instanceof DamagedSegment) return error.segment === segment ? error : new DamagedSegment(segment, error.message, error.cause)
  if (error instanceof Error && 'syscall' in error && 'code' in error && error.code !== 'EIO') return error
  const why = error instanceof Error ? error.message : String(error)
  const place = placeOf()
  return new DamagedSegment(segment, `${path} is damaged at byte ${place} (${why}): ${place >= commitsEnd ? MADE_ANEW : RESTORED}`, error)
}

/** Beyond, damage may be told again. */
const MAX_TOLD = 1000

/** Tells of each damage once: every query may come upon it. */
export function createDamageLog(log: { error(fields: object, message: string): void }): (damage: string) => void {
  const told = new Set<string>()
  return damage => {
    if (told.has(damage)) return
    if (told.size >= MAX_TOLD) told.clear()
    told.add(damage)
    log.error({ damage }, 'a part of an index is damaged')
  }
}
