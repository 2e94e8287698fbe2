/** A cache bounded by bytes that forgets what was not asked for longest; one for all indices. */
export interface ByteCache {
  /** The cached value, else what `load` makes; `sizeOf` tells its weight in bytes. */
  get<T extends object>(key: string, load: () => T, sizeOf: (value: T) => number): T
  /** Whether the value is there; it stays as old as it is. */
  has(key: string): boolean
  put<T extends object>(key: string, value: T, sizeBytes: number): void
  delete(key: string): void
  /** Results of queries: small, dear, and not to be flushed by the parts of segments that the next query reads. */
  readonly results: ResultCache
  readonly sizeBytes: number
}

export interface ResultCache {
  /** Undefined where it is not cached, or not any more. */
  find<T extends object>(key: string): T | undefined
  put<T extends object>(key: string, value: T, sizeBytes: number): void
}

/** The share of `maxBytes` that is for results. */
const RESULTS_SHARE = 0.25

export function createByteCache(maxBytes: number): ByteCache {
  const parts = createPart(maxBytes * (1 - RESULTS_SHARE))
  const results = createPart(maxBytes * RESULTS_SHARE)
  return {
    get<T extends object>(key: string, load: () => T, sizeOf: (value: T) => number): T {
      const known = parts.find<T>(key)
      if (known !== undefined) return known
      const value = load()
      parts.put(key, value, sizeOf(value))
      return value
    },
    has: parts.has,
    put: parts.put,
    delete: parts.remove,
    results,
    get sizeBytes() {
      return parts.sizeBytes + results.sizeBytes
    },
  }
}

interface Part extends ResultCache {
  has(key: string): boolean
  remove(key: string): void
  readonly sizeBytes: number
}

function createPart(maxBytes: number): Part {
  const entries = new Map<string, { readonly value: object; readonly sizeBytes: number }>()
  let total = 0

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    total -= entry.sizeBytes
  }

  return {
    has: key => entries.has(key),
    find<T extends object>(key: string): T | undefined {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value as T
    },
    put(key, value, sizeBytes) {
      remove(key)
      if (sizeBytes > maxBytes) return
      entries.set(key, { value, sizeBytes })
      total += sizeBytes
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break
        remove(oldest)
      }
    },
    remove,
    get sizeBytes() {
      return total
    },
  }
}
