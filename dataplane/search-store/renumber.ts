/** Gives each number below `width` that stands in `cells` a new one, from 0 on in the order of their first places; gives their count. */
export function renumber(cells: Uint32Array, width: number): number {
  const numbers = new Uint32Array(width)
  let next = 0
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    if (numbers[cell] === 0) numbers[cell] = ++next
    cells[at] = numbers[cell]! - 1
  }
  return next
}
