/** How often an object is put back that somebody else changes or deletes again and again: a fight over it must not take the requests of others. */
import { type BackOffConfig, backOffMs } from '../../dataplane/limits/back-off.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'

/** Times in a row that an object is put back at once. */
export const FREE_PUT_BACKS = 5
/** The waits after that. */
const PUT_BACKS: BackOffConfig = { firstMs: 2000, maxMs: 120_000 }
/** After so long without a change the fight is over. */
export const CALM_MS = 5 * 60_000

export interface PutBacks {
  /** Ms until the object may be applied with this content; 0 for other content than the last time. */
  waitMs(name: string, hash: string): number
  noteApplied(name: string, hash: string): void
  /** That we deleted it ourselves. */
  noteDeleted(name: string): void
  /** Undefined when nobody fights over it, else ms until that would be so. */
  calmMs(name: string): number | undefined
}

export interface PutBack {
  readonly atMs: number
  /** How often before, in a row, with the same content. */
  readonly repeats: number
}

interface Applied extends PutBack {
  readonly hash: string
}

/** Ms until the next one of the same content. */
export function putBackWaitMs({ atMs, repeats }: PutBack, nowMs: number): number {
  if (repeats < FREE_PUT_BACKS) return 0
  return Math.max(0, atMs + backOffMs(PUT_BACKS, repeats - FREE_PUT_BACKS + 1, () => 0) - nowMs)
}

export function createPutBacks(clock: Clock): PutBacks {
  /** The one applied longest ago comes first. */
  const recent = new Map<string, Applied>()
  const find = (name: string): Applied | undefined => {
    const found = recent.get(name)
    return found === undefined || monotonicMs(clock) - found.atMs >= CALM_MS ? undefined : found
  }
  return {
    waitMs(name, hash) {
      const found = find(name)
      return found?.hash === hash ? putBackWaitMs(found, monotonicMs(clock)) : 0
    },
    noteApplied(name, hash) {
      const before = find(name)
      recent.delete(name)
      recent.set(name, { hash, atMs: monotonicMs(clock), repeats: before?.hash === hash ? before.repeats + 1 : 0 })
      for (const [oldest] of recent) {
        if (find(oldest) !== undefined) break
        recent.delete(oldest)
      }
    },
    noteDeleted: name => void recent.delete(name),
    calmMs(name) {
      const found = find(name)
      return found === undefined || found.repeats < FREE_PUT_BACKS ? undefined : found.atMs + CALM_MS - monotonicMs(clock)
    },
  }
}
