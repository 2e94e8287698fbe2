/** Remembers the JSON of resources and scopes: those of one sender are the same from request to request. */
import { Buffer } from 'node:buffer'

/** A resource or scope as it was transcoded. */
export interface KnownOrigin {
  readonly json: Uint8Array
  /** The resource attributes `service.name` and `tenant_id`, where they are strings. */
  readonly service: string | undefined
  readonly tenantId: string | undefined
}

/** Memory that many origins share: an allocation for each costs more than all else here (measured). */
interface Chunk {
  readonly bytes: Buffer
  readonly view: DataView
  end: number
  /** The hashes of its entries. */
  readonly hashes: number[]
}

/** The bytes of a resource or scope as it came, and behind them its JSON. */
interface Entry {
  readonly chunk: Chunk
  readonly start: number
  readonly jsonStart: number
  readonly end: number
  readonly service: string | undefined
  readonly tenantId: string | undefined
  readonly owner: string
}

/** Longer ones, in protobuf or JSON, are transcoded each time. */
export const MAX_ORIGIN_BYTES = 4_096
/** All that one table remembers: those of ten thousand senders. */
export const MAX_BYTES_OF_ALL = 12_582_912
const CHUNK_BYTES = 262_144
/** Origins without an owner stay as they came. */
const NO_OWNER = ''

export class KnownOrigins {
  /** By the hash of their bytes; where two have the same, the later stays. */
  readonly #entries = new Map<number, Entry>()
  /** The oldest first. */
  readonly #chunks: Chunk[] = []

  /** The origin that was transcoded from the same bytes; with an owner, that was rewritten for the same one. */
  find(input: DataView, start: number, end: number, owner = NO_OWNER): KnownOrigin | undefined {
    if (end - start > MAX_ORIGIN_BYTES) return undefined
    const known = this.#entries.get(hashOf(input, start, end, owner))
    if (known === undefined || known.owner !== owner || !isEqual(input, start, end, known)) return undefined
    const { chunk, jsonStart, service, tenantId } = known
    return { json: chunk.bytes.subarray(jsonStart, known.end), service, tenantId }
  }

  /** Copies the bytes from `start` to `end`, and `json`; a longer one is not remembered. */
  add(input: DataView, start: number, end: number, { json, service, tenantId }: KnownOrigin, owner = NO_OWNER): void {
    const wireBytes = end - start
    if (wireBytes > MAX_ORIGIN_BYTES || json.length > MAX_ORIGIN_BYTES) return
    const chunk = this.#chunkFor(wireBytes + json.length)
    const hash = hashOf(input, start, end, owner)
    const at = chunk.end
    const jsonStart = at + wireBytes
    chunk.bytes.set(new Uint8Array(input.buffer, input.byteOffset + start, wireBytes), at)
    chunk.bytes.set(json, jsonStart)
    chunk.end = jsonStart + json.length
    chunk.hashes.push(hash)
    this.#entries.set(hash, { chunk, start: at, jsonStart, end: chunk.end, service, tenantId, owner })
  }

  /** With room for so many bytes; the oldest chunk gives way where there are too many. */
  #chunkFor(bytes: number): Chunk {
    const last = this.#chunks.at(-1)
    if (last !== undefined && last.end + bytes <= CHUNK_BYTES) return last
    if ((this.#chunks.length + 1) * CHUNK_BYTES > MAX_BYTES_OF_ALL) this.#forget(this.#chunks.shift()!)
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const chunk = { bytes: buffer, view: new DataView(buffer.buffer), end: 0, hashes: [] }
    this.#chunks.push(chunk)
    return chunk
  }

  #forget(chunk: Chunk): void {
    for (const hash of chunk.hashes) if (this.#entries.get(hash)?.chunk === chunk) this.#entries.delete(hash)
  }
}

function hashOf(input: DataView, start: number, end: number, owner: string): number {
  let hash = end - start
  for (let i = 0; i < owner.length; i++) hash = Math.imul(hash, 31) + owner.charCodeAt(i)
  for (let p = start; p + 4 <= end; p += 4) hash = Math.imul(hash, 0x9e3779b1) ^ input.getInt32(p, true)
  return hash
}

function isEqual(input: DataView, start: number, end: number, known: Entry): boolean {
  const length = end - start
  if (known.jsonStart - known.start !== length) return false
  const { view } = known.chunk
  const by = known.start - start
  let p = start
  for (; p + 4 <= end; p += 4) if (input.getInt32(p, true) !== view.getInt32(p + by, true)) return false
  for (; p < end; p++) if (input.getUint8(p) !== view.getUint8(p + by)) return false
  return true
}
