import { ALL_LOGS } from '../../contract/indices.ts'
import { ADDED_LOG_PROPERTIES, indexTemplates } from '../../domain/documents/index-templates.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { requireSupportedStore } from '../check-search-store.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'

type Settings = Pick<BridgeSettings, 'SEARCH_SHARDS' | 'SEARCH_REPLICAS'>

/** Puts every index template into the search store, so that indices get their mappings as documents create them (Decisions 8). */
export async function installIndexTemplates(store: Pick<SearchStore, 'product' | 'putIndexTemplate'>, settings: Settings): Promise<void> {
  await requireSupportedStore(store)
  const templates = indexTemplates({ shards: settings.SEARCH_SHARDS, replicas: settings.SEARCH_REPLICAS })
  for (const [name, template] of Object.entries(templates)) await store.putIndexTemplate(name, template)
}

/** Puts the fields that templates have by now into the daily indices that are there. Where one has such a field otherwise all stay as they are. */
export async function addLogFields(store: Pick<SearchStore, 'listIndices' | 'putMapping'>, log: Log): Promise<void> {
  if ((await store.listIndices(ALL_LOGS)).length === 0) return
  if (await store.putMapping(ALL_LOGS, ADDED_LOG_PROPERTIES)) return
  log.warn({ fields: Object.keys(ADDED_LOG_PROPERTIES) }, 'a daily index has a field of another type: the fields come with the next day')
}
