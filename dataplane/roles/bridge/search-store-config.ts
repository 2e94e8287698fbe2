import type { SearchConnectionConfig } from '../../adapters/search/transport.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

type Settings = Pick<BridgeSettings, 'SEARCH_ENDPOINT' | 'SEARCH_USERNAME' | 'SEARCH_PASSWORD' | 'SEARCH_CA_FILE'>

export function searchStoreConfig(settings: Settings): SearchConnectionConfig {
  return {
    endpoint: settings.SEARCH_ENDPOINT,
    username: settings.SEARCH_USERNAME,
    password: settings.SEARCH_PASSWORD,
    caFile: settings.SEARCH_CA_FILE,
  }
}
