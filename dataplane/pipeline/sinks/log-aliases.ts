import { tenantLogsAlias } from '../../contract/indices.ts'
import type { SearchStore } from '../../ports/search-store.ts'

/** Keeps a filtered alias `service-logs-{tenant}` on every daily index that holds a tenant's logs (Decisions 8). */
export interface LogAliases {
  /** Returns at once when the alias is known to be there, else a promise of it; the index must exist. */
  ensure(index: string, tenant: string): Promise<void> | undefined
}

/** Daily indices whose tenants are remembered. */
const MAX_INDICES = 100

export function createLogAliases(store: Pick<SearchStore, 'putAlias'>): LogAliases {
  const known = new Map<string, Set<string>>()

  const put = async (index: string, tenant: string) => {
    await store.putAlias(index, tenantLogsAlias(tenant), { term: { tenant_id: tenant } })
    if (known.size >= MAX_INDICES) known.clear()
    const tenants = known.get(index) ?? new Set()
    known.set(index, tenants.add(tenant))
  }

  return {
    ensure: (index, tenant) => (known.get(index)?.has(tenant) ? undefined : put(index, tenant)),
  }
}
