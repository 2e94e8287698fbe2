import { INDEX_TEMPLATES } from '../../domain/index-templates.ts'
import type { SearchStore } from '../../ports/search-store.ts'

/** Puts every index template into the search store, so that indices get their mappings as documents create them (Decisions 8). */
export async function installIndexTemplates(store: Pick<SearchStore, 'putIndexTemplate'>): Promise<void> {
  for (const [name, template] of Object.entries(INDEX_TEMPLATES)) await store.putIndexTemplate(name, template)
}
