/** Reads answers of platforms, which may be anything. */

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let each = value
  for (const key of path) {
    if (typeof each !== 'object' || each === null || !Object.hasOwn(each, key)) return undefined
    each = (each as Record<string | number, unknown>)[key]
  }
  return each
}

/** The text there, unless it is empty. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}
