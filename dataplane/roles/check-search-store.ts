import { createSearchStore } from '../adapters/search/search-store.ts'
import { unsupportedProduct } from '../adapters/search/supported-product.ts'
import type { SearchConnectionConfig } from '../adapters/search/transport.ts'
import { type SearchStore, SearchStoreRefusal, SearchStoreUnavailable } from '../ports/search-store.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * Rejects when what answers at `SEARCH_ENDPOINT` can never do: another product, too old, or one that refuses the user.
 * A store that does not answer yet is waited for by whoever uses it.
 */
export async function checkSearchStore(config: SearchConnectionConfig, log: Pick<Log, 'warn'>): Promise<void> {
  const store = createSearchStore(config)
  try {
    await requireSupportedStore(store)
  } catch (error) {
    if (error instanceof SearchStoreUnavailable) {
      log.warn({ searchEndpoint: config.endpoint, error: error.message }, 'search store does not answer yet')
    } else if (error instanceof SearchStoreRefusal && error.status === 403) {
      log.warn({ searchEndpoint: config.endpoint, error: error.message }, 'search store does not tell its version')
    } else {
      throw new Error(`SEARCH_ENDPOINT ${config.endpoint}: ${(error as Error).message}${hintOf(error)}`, { cause: error })
    }
  } finally {
    await store.close()
  }
}

/** Rejects when the store is a product that is not supported. */
export async function requireSupportedStore(store: Pick<SearchStore, 'product'>): Promise<void> {
  const { distribution, version } = await store.product()
  const problem = unsupportedProduct(distribution, version)
  if (problem !== undefined) throw new Error(`found ${problem}`)
}

function hintOf(error: unknown): string {
  return error instanceof SearchStoreRefusal && error.status === 401 ? '; SEARCH_USERNAME and SEARCH_PASSWORD must name a user of it' : ''
}
