/** Much less: half as much. */
const MUCH_LESS = 0.5

interface Holder {
  /** Where it comes from, such as an address; undefined: nothing is known of that. */
  readonly source: string | undefined
  readonly heldBytes: number
}

/**
 * The source whose holders have most of a memory together, where those of `asking` have much less with the `bytes` that it asks for: callers who come
 * again at once would have all of the memory else. Undefined where it has not, or nothing is known of it.
 */
export function largestSource(holders: Iterable<Holder>, asking: string | undefined, bytes: number): string | undefined {
  if (asking === undefined) return undefined
  const held = new Map<string, number>()
  for (const { source, heldBytes } of holders) if (source !== undefined) held.set(source, (held.get(source) ?? 0) + heldBytes)
  const [largest, most] = [...held].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0])
  return (held.get(asking) ?? 0) + bytes > MUCH_LESS * most ? undefined : largest
}
