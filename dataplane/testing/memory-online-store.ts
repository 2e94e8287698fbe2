/** An `OnlineStore` in memory, for tests of what stands on the port. */
import { type FeatureKey, type FeatureRow, type OnlineStore, OnlineStoreUnavailable } from '../ports/online-store.ts'

export interface MemoryOnlineStore extends OnlineStore {
  /** While true every call rejects with `OnlineStoreUnavailable`. */
  unavailable: boolean
  rows(): readonly FeatureRow[]
}

export function createMemoryOnlineStore(): MemoryOnlineStore {
  const rows = new Map<string, FeatureRow>()
  let version = 0
  const keyOf = ({ tenant, service }: FeatureKey) => `${tenant}/${service}`
  const assertAvailable = () => {
    if (store.unavailable) throw new OnlineStoreUnavailable('the store is switched off')
  }
  const store: MemoryOnlineStore = {
    unavailable: false,
    rows: () => [...rows.values()],
    async write(written) {
      assertAvailable()
      if (written.length > 0) version++
      for (const row of written) rows.set(keyOf(row), { ...row, values: { ...rows.get(keyOf(row))?.values, ...row.values } })
    },
    async read(keys) {
      assertAvailable()
      return keys.map(key => rows.get(keyOf(key)))
    },
    async *scan() {
      assertAvailable()
      if (rows.size > 0) yield [...rows.values()]
    },
    async remove(keys) {
      assertAvailable()
      if (keys.length > 0) version++
      for (const key of keys) rows.delete(keyOf(key))
    },
    async version() {
      assertAvailable()
      return String(version)
    },
    async close() {},
  }
  return store
}
