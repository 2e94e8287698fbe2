/** Keys of JSON objects that are looked for in bytes, without making texts of them. */

export interface KeyTable {
  /** The key that stands between two positions, whose hash is given; undefined: it is none of the table. */
  find(b: Uint8Array, start: number, end: number, hash: number): string | undefined
}

/** The hash of a key, byte by byte, from 0 on. */
export const nextKeyHash = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0

interface Key {
  readonly text: string
  readonly bytes: Uint8Array
  /** Others may have the same hash. */
  readonly next: Key | undefined
}

export function createKeyTable(keys: Iterable<string>): KeyTable {
  const byHash = new Map<number, Key>()
  /** Most keys are told apart from those of the table by a byte of their hash. */
  const mayHave = new Uint8Array(256)
  for (const text of new Set(keys)) {
    const bytes = Buffer.from(text)
    const hash = bytes.reduce(nextKeyHash, 0)
    byHash.set(hash, { text, bytes, next: byHash.get(hash) })
    mayHave[hash & 255] = 1
  }
  return {
    find(b, start, end, hash) {
      if (mayHave[hash & 255] === 0) return undefined
      for (let key = byHash.get(hash); key !== undefined; key = key.next) if (standsAt(b, start, end, key.bytes)) return key.text
      return undefined
    },
  }
}

function standsAt(b: Uint8Array, start: number, end: number, bytes: Uint8Array): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (b[start + at] !== bytes[at]) return false
  return true
}
