/** Below it a loop is quicker than a call that copies. */
const MIN_COPIED_BYTES = 24

export function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): number {
  if (length < MIN_COPIED_BYTES) for (let i = 0; i < length; i++) to[at + i] = from[start + i]!
  else to.set(from.subarray(start, start + length), at)
  return at + length
}

/** Repeats the `length` bytes from `offset` before `at` on; they may reach into themselves. */
export function repeatBytes(bytes: Uint8Array, at: number, offset: number, length: number): number {
  const end = at + length
  const start = at - offset
  if (length < MIN_COPIED_BYTES) {
    for (let i = 0; i < length; i++) bytes[at + i] = bytes[start + i]!
    return end
  }
  // Each copy takes in the copies before: they double.
  for (let to = at; to < end; ) {
    const part = Math.min(end - to, to - start)
    bytes.copyWithin(to, start, start + part)
    to += part
  }
  return end
}
