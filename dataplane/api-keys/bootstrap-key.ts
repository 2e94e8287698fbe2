import type { Clock } from '../ports/clock.ts'
import { SearchStoreUnavailable } from '../ports/search-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { ApiKeyStore } from './key-store.ts'

export interface BootstrapKeyDeps {
  readonly keys: Pick<ApiKeyStore, 'adopt'>
  readonly tenant: string
  readonly key: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

const RETRY_MS = 2_000

/** Sees to it that the key is there, once the search store is; resolves then, or when the signal aborts. */
export async function ensureBootstrapKey({ keys, tenant, key, clock, log, signal }: BootstrapKeyDeps): Promise<void> {
  while (!signal.aborted) {
    try {
      const outcome = await keys.adopt(tenant, 'bootstrap', key)
      if (outcome === 'made') log.info({ tenant }, 'the key of BOOTSTRAP_KEY was made')
      if (outcome === 'revoked') log.warn({ tenant }, 'the key of BOOTSTRAP_KEY was revoked, and stays so')
      if (outcome === 'of another tenant') log.error({ tenant }, 'BOOTSTRAP_KEY: expected a key of no other tenant')
      return
    } catch (error) {
      if (!(error instanceof SearchStoreUnavailable)) log.error({ error }, 'the key of BOOTSTRAP_KEY cannot be made')
      await clock.sleep(RETRY_MS, signal)
    }
  }
}
