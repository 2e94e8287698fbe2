/** From here on an allocation is worth giving back by hand. */
const MIN_BYTES = 16 * 1024

/**
 * Gives the memory of a buffer back at once; to be called by its only owner, every view of it is empty afterwards. The collector
 * would do so in time, but counts such memory and runs all the more often for it. Buffers that share their memory are left alone.
 */
export function releaseBytes(bytes: ArrayBufferView): void {
  const { buffer, byteLength } = bytes
  if (byteLength < MIN_BYTES || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return
  buffer.transfer(0)
}
