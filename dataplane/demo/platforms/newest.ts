/** Items by key; the oldest go when there are too many. */
export interface Newest<T> {
  get(key: string): T | undefined
  /** Keeps the item under the key; a key that is there keeps its place. */
  put(key: string, item: T): T
  /** The newest first. */
  all(): readonly T[]
  clear(): void
}

/** Incidents, messages or threads that a platform keeps. */
export const MAX_KEPT = 1_000

export function createNewest<T>(max = MAX_KEPT): Newest<T> {
  const items = new Map<string, T>()
  return {
    get: key => items.get(key),
    put(key, item) {
      items.set(key, item)
      if (items.size > max) items.delete(items.keys().next().value!)
      return item
    },
    all: () => [...items.values()].reverse(),
    clear: () => items.clear(),
  }
}

/** Comments, notes, events of one ticket. */
export const MAX_ENTRIES = 200

/** Appends; the oldest entries go when there are too many. */
export function append<T>(entries: T[], entry: T): void {
  entries.push(entry)
  if (entries.length > MAX_ENTRIES) entries.shift()
}
