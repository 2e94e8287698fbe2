/** By chance, so that none of many is always the last. */
export function inAnyOrder<T>(items: readonly T[]): readonly T[] {
  return items
    .map(item => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
