/** Whether any name fits both patterns, in which `*` stands for any text. */
export function mayOverlap(a: string, b: string): boolean {
  // Row `i`, place `j`: whether the rest of `a` from `i` on and that of `b` from `j` on have a name in common.
  let below = new Uint8Array(b.length + 1)
  for (let i = a.length; i >= 0; i--) {
    const row = new Uint8Array(b.length + 1)
    for (let j = b.length; j >= 0; j--) {
      const isEnd = i === a.length && j === b.length
      const byStarOfA = a[i] === '*' && (below[j] === 1 || (j < b.length && row[j + 1] === 1))
      const byStarOfB = b[j] === '*' && (row[j + 1] === 1 || (i < a.length && below[j] === 1))
      const byCharacter = i < a.length && a[i] === b[j] && below[j + 1] === 1
      row[j] = Number(isEnd || byStarOfA || byStarOfB || byCharacter)
    }
    below = row
  }
  return below[0] === 1
}
