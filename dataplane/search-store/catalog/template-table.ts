import type { CatalogEntries } from './catalog-entries.ts'
import type { IndexTemplate, TemplateKind, Templates } from './template.ts'

/** The templates there are. A change is on disk before it returns. */
export class TemplateTable implements Templates {
  readonly template: Map<string, IndexTemplate>
  readonly component_template: Map<string, IndexTemplate>
  readonly legacy_template: Map<string, IndexTemplate>
  readonly #entries: CatalogEntries

  constructor(entries: CatalogEntries) {
    this.#entries = entries
    this.template = entries.templates('template')
    this.component_template = entries.templates('component_template')
    this.legacy_template = entries.templates('legacy_template')
  }

  put(kind: TemplateKind, name: string, template: IndexTemplate): void {
    this.#entries.transaction(() => this.#entries.putTemplate(kind, name, template))
    this[kind].set(name, template)
  }

  delete(kind: TemplateKind, names: readonly string[]): void {
    this.#entries.transaction(() => {
      for (const name of names) this.#entries.deleteTemplate(kind, name)
    })
    for (const name of names) this[kind].delete(name)
  }
}
