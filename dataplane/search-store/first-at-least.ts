/** Place in an ascending list of the first number that is `wanted` or more; the list's length without one. */
export function firstAtLeast(list: ArrayLike<number>, wanted: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}
