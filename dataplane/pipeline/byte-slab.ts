/** Small results of one batch are written side by side into a common allocation, which costs far less than one each. */
const SLAB_BYTES = 256 * 1024
/** Larger ones get an allocation of their own. */
const MAX_SHARED_BYTES = SLAB_BYTES / 4

let slab = Buffer.alloc(0)
let used = 0

/** `size` bytes, not zeroed; nobody else has them. */
export function allocateBytes(size: number): Buffer {
  if (size > MAX_SHARED_BYTES) return Buffer.allocUnsafeSlow(size)
  reserve(size)
  const start = used
  used += size
  return slab.subarray(start, used)
}

/** UTF-8 of a text. */
export function encodeText(text: string): Buffer {
  return encodeTextBefore(text, 0)
}

/** The same with room for further bytes behind it. */
export function encodeTextBefore(text: string, room: number): Buffer {
  const most = text.length * 3 + room
  if (most > MAX_SHARED_BYTES) {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text) + room)
    bytes.write(text)
    return bytes
  }
  reserve(most)
  const start = used
  used += slab.write(text, start) + room
  return slab.subarray(start, used)
}

function reserve(size: number): void {
  if (size <= slab.length - used) return
  slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  used = 0
}
