/** When keys were used, gathered in memory and written once a second: a request waits for no write. */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { ApiKeyStore } from './key-store.ts'

/** How often uses are written. */
const FLUSH_MS = 1_000

export interface KeyUses {
  note(hash: string): void
  /** Writes the uses that are not written yet. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export interface KeyUsesDeps {
  readonly keys: Pick<ApiKeyStore, 'noteUses'>
  readonly clock: Clock
  readonly log: Log
}

export function createKeyUses({ keys, clock, log }: KeyUsesDeps): KeyUses {
  let uses = new Map<string, number>()
  const ending = new AbortController()

  const flush = async () => {
    if (uses.size === 0) return
    const written = uses
    uses = new Map()
    try {
      await keys.noteUses(written)
    } catch (error) {
      log.debug({ error }, 'uses of API keys could not be written')
      for (const [hash, atMs] of written) if (!uses.has(hash)) uses.set(hash, atMs)
    }
  }
  const flushing = (async () => {
    while (!ending.signal.aborted) {
      await clock.sleep(FLUSH_MS, ending.signal)
      await flush()
    }
  })()

  return {
    note: hash => void uses.set(hash, clock.nowMs()),
    flush,
    async stop() {
      ending.abort()
      await flushing
    },
  }
}
