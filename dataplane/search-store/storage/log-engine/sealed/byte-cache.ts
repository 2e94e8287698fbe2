/** A cache bounded by bytes that forgets what was not asked for longest; one for all indices. */
export interface ByteCache {
  /** The cached value, else what `load` makes; `sizeOf` tells its weight in bytes. */
  get<T extends object>(key: string, load: () => T, sizeOf: (value: T) => number): T
  put<T extends object>(key: string, value: T, sizeBytes: number): void
  delete(key: string): void
  readonly sizeBytes: number
}

export function createByteCache(maxBytes: number): ByteCache {
  const entries = new Map<string, { readonly value: object; readonly sizeBytes: number }>()
  let total = 0

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    total -= entry.sizeBytes
  }

  function put<T extends object>(key: string, value: T, sizeBytes: number): void {
    remove(key)
    if (sizeBytes > maxBytes) return
    entries.set(key, { value, sizeBytes })
    total += sizeBytes
    for (const oldest of entries.keys()) {
      if (total <= maxBytes) break
      remove(oldest)
    }
  }

  return {
    get<T extends object>(key: string, load: () => T, sizeOf: (value: T) => number): T {
      const entry = entries.get(key)
      if (entry !== undefined) {
        entries.delete(key)
        entries.set(key, entry)
        return entry.value as T
      }
      const value = load()
      put(key, value, sizeOf(value))
      return value
    },
    put,
    delete: remove,
    get sizeBytes() {
      return total
    },
  }
}
