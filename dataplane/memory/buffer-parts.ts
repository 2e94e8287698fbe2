/** Gives out parts of a buffer, side by side; for what does not fit any more, memory of its own. */
export function partsOf(buffer: Buffer): (sizeBytes: number) => Buffer {
  let used = 0
  return sizeBytes => {
    if (sizeBytes > buffer.length - used) return Buffer.allocUnsafe(sizeBytes)
    const start = used
    used += sizeBytes
    return buffer.subarray(start, used)
  }
}
