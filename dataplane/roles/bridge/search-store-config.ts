import type { SearchConnectionConfig } from '../../adapters/search/transport.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

export function searchStoreConfig(settings: BridgeSettings): SearchConnectionConfig {
  return {
    endpoint: settings.SEARCH_ENDPOINT,
    username: settings.SEARCH_USERNAME,
    password: settings.SEARCH_PASSWORD,
    caFile: settings.SEARCH_CA_FILE,
  }
}
