import { tenantLogsAlias } from '../../contract/indices.ts'
import type { SearchStore } from '../../ports/search-store.ts'

/** Keeps a filtered alias `service-logs-{tenant}` on every daily index that holds a tenant's logs (Decisions 8). */
export interface LogAliases {
  /** Resolves once the alias is there; the index must exist. */
  ensure(index: string, tenant: string): Promise<void>
}

const MAX_REMEMBERED = 100_000

export function createLogAliases(store: Pick<SearchStore, 'putAlias'>): LogAliases {
  const known = new Set<string>()
  return {
    async ensure(index, tenant) {
      const id = `${index}/${tenant}`
      if (known.has(id)) return
      await store.putAlias(index, tenantLogsAlias(tenant), { term: { tenant_id: tenant } })
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.add(id)
    },
  }
}
