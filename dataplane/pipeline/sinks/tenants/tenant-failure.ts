import { SearchStoreRefusal, SearchStoreUnavailable } from '../../../ports/search-store.ts'

/** The store failed or refused for the indices of some tenants; other tenants are not affected. */
export class TenantFailure extends SearchStoreUnavailable {
  readonly tenants: ReadonlySet<string>
  constructor(tenants: Iterable<string>, cause: Error) {
    super(cause.message, { cause })
    this.name = 'TenantFailure'
    this.tenants = new Set(tenants)
  }
}

/** By default: writes that come together are made durable together. */
const MAX_AT_ONCE = 16

/** Asks the store something for each item of a tenant, `atOnce` of them at once; all are tried before it rejects for the tenants whose requests failed. */
export async function forEachTenant<T extends { readonly tenant: string }, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
  atOnce = MAX_AT_ONCE,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length)
  const failed = new Set<string>()
  let cause: Error | undefined
  let next = 0
  const work = async () => {
    while (next < items.length) {
      const at = next++
      const item = items[at]!
      try {
        results[at] = await run(item)
      } catch (error) {
        if (!(error instanceof SearchStoreUnavailable || error instanceof SearchStoreRefusal)) throw error
        failed.add(item.tenant)
        cause ??= error
      }
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  if (cause !== undefined) throw new TenantFailure(failed, cause)
  return results
}
