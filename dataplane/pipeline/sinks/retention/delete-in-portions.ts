/** Deletes documents of many indices in portions, so that other work of the store gets its turn. */
import type { Clock } from '../../../ports/clock.ts'

/** Documents looked at in one request, and requests for one index in a turn. The next turn deletes the rest. */
export const PORTION = 500
const MAX_PORTIONS = 100
/** Between two portions. */
const PAUSE_MS = 200

export interface PortionDeps {
  readonly clock: Clock
  /** Ends it between two portions. */
  readonly signal: AbortSignal
}

export interface Deletions {
  readonly deleted: number
  /** Whether documents are left for the next turn. */
  readonly isUnfinished: boolean
  readonly failed: readonly { readonly name: string; readonly error: unknown }[]
}

/** Deletes some, from a position on; `next` is the position of the portion behind, undefined behind the last one. */
type DeletePortion<P> = (index: string, from: P | undefined) => Promise<{ readonly deleted: number; readonly next: P | undefined }>

/** An index that fails keeps none of the others. */
export async function deleteInPortions<P>(
  indices: readonly string[],
  { clock, signal }: PortionDeps,
  deletePortion: DeletePortion<P>,
): Promise<Deletions> {
  let deleted = 0
  let isUnfinished = false
  const failed: { name: string; error: unknown }[] = []
  for (const name of indices) {
    try {
      let from: P | undefined
      for (let portion = 0; ; portion++) {
        isUnfinished ||= signal.aborted || portion === MAX_PORTIONS
        if (signal.aborted || portion === MAX_PORTIONS) break
        const { deleted: some, next } = await deletePortion(name, from)
        deleted += some
        if (next === undefined) break
        from = next
        await clock.sleep(PAUSE_MS, signal)
      }
    } catch (error) {
      failed.push({ name, error })
    }
  }
  return { deleted, isUnfinished, failed }
}

/** The same where each portion takes the oldest that are left, and tells how many it has deleted: none ends the index. */
export function deleteOldestInPortions(
  indices: readonly string[],
  deps: PortionDeps,
  deletePortion: (index: string) => Promise<number>,
): Promise<Deletions> {
  return deleteInPortions(indices, deps, async index => {
    const deleted = await deletePortion(index)
    return { deleted, next: deleted === 0 ? undefined : true }
  })
}
