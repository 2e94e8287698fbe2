/** Merges a partial document into a stored one as `_update` does: objects key by key, everything else replaced. Undefined: nothing would change. */
export function mergeJson(stored: unknown, partial: unknown): unknown {
  if (!isObject(stored) || !isObject(partial)) return isSame(stored, partial) ? undefined : partial
  let merged: Record<string, unknown> | undefined
  for (const key of Object.keys(partial)) {
    const hasKey = Object.hasOwn(stored, key)
    const value = hasKey ? mergeJson(stored[key], partial[key]) : partial[key]
    if (hasKey && value === undefined) continue
    merged ??= { ...stored }
    // Defined, not assigned: a key named __proto__ is a key like any other.
    Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return merged
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
}
