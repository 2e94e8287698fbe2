/** Tells tenants whose own indices do not work from a store that is away, full or overloaded. */
import { lifecycleIndices } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { SearchStoreRefusal } from '../../../ports/search-store.ts'
import type { IndexOutages } from '../index-outages.ts'
import type { TenantFailure } from './tenant-failure.ts'

export interface TenantOutages {
  /** The tenants, out of some, that have a red index. */
  red(tenants: Iterable<string>): Promise<ReadonlySet<string>>
  /**
   * Those of the tenants of a failure whose own indices are to blame: the store refused what they asked for, or their indices are red, or the others'
   * went well. `asked`: all tenants for which something was asked. The default tenant's anomalies have nowhere else to wait: its indices have to be given up first.
   */
  toBlame(failure: TenantFailure, asked: ReadonlySet<string>): Promise<readonly string[]>
}

export function createTenantOutages(outages: IndexOutages): TenantOutages {
  const red = async (tenants: Iterable<string>): Promise<ReadonlySet<string>> => {
    const all = [...tenants]
    const indices = new Set(await outages.red(all.flatMap(lifecycleIndices)))
    return new Set(all.filter(tenant => lifecycleIndices(tenant).some(index => indices.has(index))))
  }
  const isDefaultGivenUp = async (reason: string): Promise<boolean> => {
    const indices = await outages.red(lifecycleIndices(DEFAULT_TENANT))
    for (const index of indices) outages.failed(index, reason)
    return (await outages.givenUp(indices)).size > 0
  }
  return {
    red,
    async toBlame({ tenants, cause, message }, asked) {
      if (cause instanceof SearchStoreRefusal) return [...tenants]
      const broken = await red(tenants)
      const othersWork = [...asked].some(tenant => !tenants.has(tenant))
      const shut = [...tenants].filter(tenant => tenant !== DEFAULT_TENANT && (othersWork || broken.has(tenant)))
      return broken.has(DEFAULT_TENANT) && (await isDefaultGivenUp(message)) ? [...shut, DEFAULT_TENANT] : shut
    },
  }
}
