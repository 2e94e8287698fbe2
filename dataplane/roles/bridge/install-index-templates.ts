import { indexTemplates } from '../../domain/index-templates.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { requireSupportedStore } from '../check-search-store.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

type Settings = Pick<BridgeSettings, 'SEARCH_SHARDS' | 'SEARCH_REPLICAS'>

/** Puts every index template into the search store, so that indices get their mappings as documents create them (Decisions 8). */
export async function installIndexTemplates(store: Pick<SearchStore, 'product' | 'putIndexTemplate'>, settings: Settings): Promise<void> {
  await requireSupportedStore(store)
  const templates = indexTemplates({ shards: settings.SEARCH_SHARDS, replicas: settings.SEARCH_REPLICAS })
  for (const [name, template] of Object.entries(templates)) await store.putIndexTemplate(name, template)
}
