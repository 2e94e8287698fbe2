/** Whether writes come to the disk. */
import { createDamageLog } from './storage/damaged-segment.ts'

export interface WriteHealth {
  /** Why writes failed within the last minute; undefined where writing works, or nobody has tried since. */
  readonly problem: string | undefined
  /** `what` was to be written: an index, or small indices together. */
  failed(what: string, reason: string): void
  wrote(what: string): void
  /** A document was to be changed that is damaged. */
  damaged(damage: string): void
  /** A damaged file was made anew from its documents. */
  mended(path: string): void
  /** An index that is gone: its failure counts no more. */
  forget(what: string): void
}

export const NO_WRITE_HEALTH: WriteHealth = {
  problem: undefined,
  failed: () => undefined,
  wrote: () => undefined,
  damaged: () => undefined,
  mended: () => undefined,
  forget: () => undefined,
}

interface Log {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A write that failed may never be tried again: it counts for so long. */
const FORGOTTEN_MS = 60_000

/** Logs when writing begins to fail, and why, and when it works again; not every write, and not every index, which are many on one full disk. */
export function createWriteHealth(log: Log, monotonicMs: () => number): WriteHealth {
  let failing: { readonly what: string; readonly reason: string; readonly lastMs: number } | undefined
  const isRecent = ({ lastMs }: { readonly lastMs: number }) => monotonicMs() - lastMs < FORGOTTEN_MS
  return {
    get problem() {
      return failing !== undefined && isRecent(failing) ? failing.reason : undefined
    },
    failed(what, reason) {
      if (failing === undefined) log.error({ index: what, reason }, 'the search store cannot write; it tries again with each write')
      failing = { what: failing?.what ?? what, reason, lastMs: monotonicMs() }
    },
    wrote(what) {
      if (failing === undefined || (failing.what !== what && isRecent(failing))) return
      failing = undefined
      log.info({ index: what }, 'the search store can write again')
    },
    damaged: createDamageLog(log),
    mended: path => log.info({ path }, 'a damaged segment was made anew: its documents were whole'),
    forget(what) {
      if (failing?.what === what) failing = undefined
    },
  }
}
