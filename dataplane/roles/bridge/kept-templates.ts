import { type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import type { ThreadDeps } from './threads/thread-deps.ts'

/** How often templates are put anew: those that are as they were change nothing. */
const PUT_EVERY_MS = 60_000

export interface KeptTemplatesDeps extends Pick<ThreadDeps, 'clock' | 'signal'> {
  /** Puts the index templates. */
  readonly install: () => Promise<void>
}

/**
 * The same store, whose index templates are there before a document makes an index: also where it was away, and may have come back empty, and where
 * somebody deleted them. Indices without them get fields of other types, which no later template mends.
 */
export function withKeptTemplates(store: SearchStore, { install, clock, signal }: KeptTemplatesDeps): SearchStore {
  let isInDoubt = false
  let installing: Promise<void> | undefined
  const installOnce = () => {
    installing ??= install()
      .then(() => {
        isInDoubt = false
      })
      .finally(() => {
        installing = undefined
      })
    return installing
  }
  const write = async <T>(request: () => Promise<T>): Promise<T> => {
    if (isInDoubt) await installOnce()
    try {
      return await request()
    } catch (error) {
      if (error instanceof SearchStoreUnavailable && error.isBusy !== true) isInDoubt = true
      throw error
    }
  }
  const keep = async () => {
    for (;;) {
      await clock.sleep(PUT_EVERY_MS, signal)
      if (signal.aborted) return
      await installOnce().catch(() => {
        isInDoubt = true
      })
    }
  }
  void keep()
  return {
    ...store,
    bulk: (operations, options) => write(() => store.bulk(operations, options)),
    put: (index, id, document, condition) => write(() => store.put(index, id, document, condition)),
  }
}
