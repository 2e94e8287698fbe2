import { INDEX_TEMPLATES } from '../domain/documents/index-templates.ts'
import type { SearchStore } from '../ports/search-store.ts'

/** Makes indices as the product's own documents create them. */
export async function putIndexTemplates(store: Pick<SearchStore, 'putIndexTemplate'>): Promise<void> {
  for (const [name, template] of Object.entries(INDEX_TEMPLATES)) await store.putIndexTemplate(name, template)
}
