/** Puts a value into a map of at most `max` entries; the entry that was put there longest ago leaves for it. */
export function keepBounded<K, T>(map: Map<K, T>, key: K, value: T, max: number): void {
  map.delete(key)
  if (map.size >= max) map.delete(map.keys().next().value!)
  map.set(key, value)
}
