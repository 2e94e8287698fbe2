import { tenantLogsAlias } from '../../contract/indices.ts'
import type { SearchStore } from '../../ports/search-store.ts'

export interface TenantIndex {
  readonly index: string
  readonly tenant: string
}

/** Keeps a filtered alias `service-logs-{tenant}` on every daily index that holds a tenant's logs (Decisions 8). */
export interface LogAliases {
  /** Resolves once each alias is there; the indices must exist. */
  ensure(pairs: Iterable<TenantIndex>): Promise<void>
}

const MAX_REMEMBERED = 100_000

export function createLogAliases(store: Pick<SearchStore, 'putAlias'>): LogAliases {
  const known = new Set<string>()
  return {
    async ensure(pairs) {
      for (const { index, tenant } of pairs) {
        const id = `${index}/${tenant}`
        if (known.has(id)) continue
        await store.putAlias(index, tenantLogsAlias(tenant), { term: { tenant_id: tenant } })
        if (known.size >= MAX_REMEMBERED) known.clear()
        known.add(id)
      }
    },
  }
}
