/** Ascending documents of either list, each once. */
export function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const merged = new Uint32Array(a.length + b.length)
  let count = 0
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const left = i < a.length ? a[i]! : Number.POSITIVE_INFINITY
    const right = j < b.length ? b[j]! : Number.POSITIVE_INFINITY
    merged[count++] = Math.min(left, right)
    if (left <= right) i++
    if (right <= left) j++
  }
  return merged.slice(0, count)
}
