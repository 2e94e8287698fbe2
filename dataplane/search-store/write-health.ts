/** Whether writes come to the disk. */
import { createDamageLog } from './storage/damaged-segment.ts'

export interface WriteHealth {
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

/** Logs when writing begins to fail, and why, and when it works again; not every write, and not every index, which are many on one full disk. */
export function createWriteHealth(log: Log): WriteHealth {
  let failing: { readonly what: string; readonly reason: string } | undefined
  return {
    failed(what, reason) {
      if (failing === undefined) log.error({ index: what, reason }, 'the search store cannot write; it tries again with each write')
      failing ??= { what, reason }
    },
    wrote(what) {
      if (failing?.what !== what) return
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
