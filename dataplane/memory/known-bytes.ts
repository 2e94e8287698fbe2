/** Remembers what was made of bytes that come again, such as what a sender writes into each of its requests; the oldest are forgotten. */

/** Memory that many entries share: an allocation for each costs more than all else here (measured), and garbage collection goes over none of it. */
interface Chunk {
  readonly bytes: Buffer
  readonly view: DataView
  end: number
  /** Memory of its entries beside these bytes. */
  heldBytes: number
  /** The hashes of its entries. */
  readonly hashes: number[]
}

/** The bytes lie from `start` to `end` of the chunk, what was made of them behind. */
interface Entry<Value> {
  readonly chunk: Chunk
  readonly start: number
  readonly end: number
  readonly owner: string
  readonly value: Value
}

/** Where what was made of the bytes lies. It stays there as long as somebody holds `memory`. */
export interface Place {
  readonly memory: Buffer
  readonly start: number
  readonly end: number
}

/** Bytes and a value that were made of other bytes. */
export interface Made<Value> {
  readonly bytes: Uint8Array
  /** Memory of entry and value beside the bytes. */
  readonly heldBytes: number
  valueAt(place: Place): Value
}

const CHUNK_BYTES = 262_144

/** Values by the bytes that they were made of. A hash alone decides nothing. */
export class KnownBytes<Value> {
  readonly #maxBytes: number
  /** By the hash of their bytes; where two have the same, the later stays. */
  readonly #entries = new Map<number, Entry<Value>>()
  /** The oldest first. */
  readonly #chunks: Chunk[] = []

  /** `maxBytes`: all memory together, that of the entries counted in. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The value that was added with the same bytes for the same owner. */
  find(input: DataView, start: number, end: number, owner: string): Value | undefined {
    const known = this.#entries.get(hashOf(input, start, end, owner))
    return known !== undefined && known.owner === owner && isEqual(input, start, end, known) ? known.value : undefined
  }

  /** Copies the bytes from `start` to `end`, and those made of them. More than a chunk holds is not remembered. */
  add(input: DataView, start: number, end: number, owner: string, made: Made<Value>): void {
    const length = end - start
    const chunk = this.#chunkFor(length + made.bytes.length + made.heldBytes)
    if (chunk === undefined) return
    const hash = hashOf(input, start, end, owner)
    const at = chunk.end
    const madeAt = at + length
    chunk.bytes.set(new Uint8Array(input.buffer, input.byteOffset + start, length), at)
    chunk.bytes.set(made.bytes, madeAt)
    chunk.end = madeAt + made.bytes.length
    chunk.heldBytes += made.heldBytes
    chunk.hashes.push(hash)
    const value = made.valueAt({ memory: chunk.bytes, start: madeAt, end: chunk.end })
    this.#entries.set(hash, { chunk, start: at, end: madeAt, owner, value })
  }

  /** With room for so many bytes; the oldest chunk gives way where there are too many. */
  #chunkFor(bytes: number): Chunk | undefined {
    if (bytes > CHUNK_BYTES) return undefined
    const last = this.#chunks.at(-1)
    if (last !== undefined && last.end + last.heldBytes + bytes <= CHUNK_BYTES) return last
    if ((this.#chunks.length + 1) * CHUNK_BYTES > this.#maxBytes) this.#forget(this.#chunks.shift())
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const chunk = { bytes: buffer, view: new DataView(buffer.buffer), end: 0, heldBytes: 0, hashes: [] }
    this.#chunks.push(chunk)
    return chunk
  }

  #forget(chunk: Chunk | undefined): void {
    for (const hash of chunk?.hashes ?? []) if (this.#entries.get(hash)?.chunk === chunk) this.#entries.delete(hash)
  }
}

function hashOf(input: DataView, start: number, end: number, owner: string): number {
  let hash = end - start
  for (let i = 0; i < owner.length; i++) hash = Math.imul(hash, 31) + owner.charCodeAt(i)
  for (let p = start; p + 4 <= end; p += 4) hash = Math.imul(hash, 0x9e3779b1) ^ input.getInt32(p, true)
  return hash
}

function isEqual(input: DataView, start: number, end: number, known: Entry<unknown>): boolean {
  if (known.end - known.start !== end - start) return false
  const { view } = known.chunk
  const by = known.start - start
  let p = start
  for (; p + 4 <= end; p += 4) if (input.getInt32(p, true) !== view.getInt32(p + by, true)) return false
  for (; p < end; p++) if (input.getUint8(p) !== view.getUint8(p + by)) return false
  return true
}
