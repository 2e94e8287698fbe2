import type { Creations } from '../../index-storage.ts'

export interface Given {
  readonly id: string
  readonly source: Buffer
}

/** Documents as they stand in the memory of a bulk. */
export function creationsOf(documents: readonly Given[]): Creations {
  const parts = documents.flatMap(({ id, source }) => [Buffer.from(id), source])
  const places = new Uint32Array(3 * documents.length)
  let at = 0
  for (const [k, part] of parts.entries()) {
    const row = 3 * (k >>> 1)
    if (k % 2 === 0) places[row] = at
    else places[row + 1] = at
    at += part.length
    places[row + 2] = at
  }
  return { bytes: Buffer.concat(parts), places, count: documents.length }
}
