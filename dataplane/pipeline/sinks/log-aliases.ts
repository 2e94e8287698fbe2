import { tenantLogsAlias } from '../../contract/indices.ts'
import { isRecent } from '../../domain/recent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'

/** Keeps a filtered alias `service-logs-{tenant}` on every daily index that holds a tenant's logs (Decisions 8). */
export interface LogAliases {
  /** Returns at once when the alias was there lately, else a promise of it; the index must exist. */
  ensure(index: string, tenant: string): Promise<void> | undefined
}

/** Daily indices whose tenants are remembered. */
const MAX_INDICES = 100
/** How long an alias is taken to be there still: an index that somebody deleted comes back without it. */
const TRUSTED_MS = 30_000

export function createLogAliases({ store, clock }: { readonly store: Pick<SearchStore, 'putAlias'>; readonly clock: Clock }): LogAliases {
  /** When each alias was put last, by index and tenant. */
  const known = new Map<string, Map<string, number>>()

  const put = async (index: string, tenant: string) => {
    await store.putAlias(index, tenantLogsAlias(tenant), { term: { tenant_id: tenant } })
    if (known.size >= MAX_INDICES) known.clear()
    const tenants = known.get(index) ?? new Map<string, number>()
    known.set(index, tenants.set(tenant, clock.nowMs()))
  }

  return {
    ensure(index, tenant) {
      const putAtMs = known.get(index)?.get(tenant)
      return putAtMs !== undefined && isRecent(putAtMs, TRUSTED_MS, clock.nowMs()) ? undefined : put(index, tenant)
    },
  }
}
