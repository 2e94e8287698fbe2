import { unsupportedProduct } from '../adapters/search/supported-product.ts'
import { type SearchStore, SearchStoreRefusal, SearchStoreUnavailable } from '../ports/search-store.ts'
import type { Log } from '../telemetry/log.ts'
import { searchRemedy } from './search-remedy.ts'

/**
 * Rejects when the server at `SEARCH_ENDPOINT` can never do: another product, too old, or one that refuses the user. A store that does not answer
 * yet is warned of; its users wait for it.
 */
export async function checkSearchStore(store: Pick<SearchStore, 'product'>, endpoint: string, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    await requireSupportedStore(store)
  } catch (error) {
    const { message } = error as Error
    const remedy = remedyOf(error, endpoint)
    const told = { searchEndpoint: endpoint, error: remedy === undefined ? message : `${message}; ${remedy}` }
    if (error instanceof SearchStoreUnavailable) log.warn(told, 'search store does not answer yet')
    else if (error instanceof SearchStoreRefusal && error.status === 403) log.warn(told, 'search store does not tell its version')
    else throw new Error(`SEARCH_ENDPOINT ${endpoint}: ${told.error}`, { cause: error })
  }
}

/** Rejects when the store is a product that is not supported. */
export async function requireSupportedStore(store: Pick<SearchStore, 'product'>): Promise<void> {
  const { distribution, version } = await store.product()
  const problem = unsupportedProduct(distribution, version)
  if (problem !== undefined) throw new Error(`found ${problem}`)
}

function remedyOf(error: unknown, endpoint: string): string | undefined {
  if (error instanceof SearchStoreRefusal && error.status === 401) return 'SEARCH_USERNAME and SEARCH_PASSWORD must name a user of it'
  return error instanceof SearchStoreUnavailable ? searchRemedy(error.message, endpoint) : undefined
}
