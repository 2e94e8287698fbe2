import { VersionConflict } from './search-store.ts'

/** Other writers may be first, but hardly this often. */
const MAX_ATTEMPTS = 20

/**
 * Reads, changes and writes a document, once more each time that another writer was first. `attempt` throws the `VersionConflict` of its write; its
 * argument is the number of conflicts so far. Rejects with the last conflict when the document changes too fast.
 */
export async function retryOnConflict<T>(attempt: (conflicts: number) => Promise<T>): Promise<T> {
  for (let conflicts = 0; ; conflicts++)
    try {
      return await attempt(conflicts)
    } catch (error) {
      if (!(error instanceof VersionConflict) || conflicts + 1 >= MAX_ATTEMPTS) throw error
    }
}
