/** Values of one source, by place. */
export type Reader<V> = (place: number, visit: (value: V) => void) => void

/** Visits, for a place, all combinations of one value of each reader. The array of a combination is used again for the next. */
export function combinationsOf<V>(readers: readonly Reader<V>[]): Reader<readonly V[]> {
  const chosen: V[] = []
  return (place, visit) => {
    const choose = (at: number): void => {
      if (at === readers.length) visit(chosen)
      else
        readers[at]!(place, value => {
          chosen[at] = value
          choose(at + 1)
        })
    }
    choose(0)
  }
}
