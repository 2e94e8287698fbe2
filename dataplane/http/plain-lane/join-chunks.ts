import { Buffer } from 'node:buffer'

/** The bytes from `start` to `end` of chunks that follow each other; a view when there is but one. */
export function joinChunks(chunks: readonly Buffer[], start: number, end: number): Buffer {
  if (chunks.length === 1) return chunks[0]!.subarray(start, end)
  const joined = Buffer.allocUnsafeSlow(end - start)
  let at = -start
  for (const chunk of chunks) {
    const from = Math.max(0, -at)
    const to = Math.min(chunk.length, joined.length - at)
    if (to > from) chunk.copy(joined, at + from, from, to)
    at += chunk.length
  }
  return joined
}
