/** Remembers the JSON of resources and scopes: those of one sender are the same from request to request. */

/** A resource or scope as it was transcoded. */
export interface KnownOrigin {
  readonly json: Uint8Array
  /** The resource attributes `service.name` and `tenant_id`, where they are strings. */
  readonly service: string | undefined
  readonly tenantId: string | undefined
}

interface Entry extends KnownOrigin {
  readonly wire: DataView
}

/** Longer ones, in protobuf or JSON, are transcoded each time. */
export const MAX_ORIGIN_BYTES = 4_096
/** Memory of all that one table remembers: some thousands. */
export const MAX_BYTES_OF_ALL = 12_582_912
/** Memory of an entry beside its bytes. */
const ENTRY_BYTES = 500

export class KnownOrigins {
  /** By the hash of their bytes; where two have the same, the later stays. */
  readonly #entries = new Map<number, Entry>()
  #bytes = 0

  /** The origin that was transcoded from the same bytes. */
  find(input: DataView, start: number, end: number): KnownOrigin | undefined {
    if (end - start > MAX_ORIGIN_BYTES) return undefined
    const known = this.#entries.get(hashOf(input, start, end))
    return known !== undefined && isEqual(input, start, end, known.wire) ? known : undefined
  }

  /** Copies the bytes from `start` to `end`, and `json`; a longer one is not remembered. */
  add(input: DataView, start: number, end: number, { json, service, tenantId }: KnownOrigin): void {
    const wireBytes = end - start
    if (wireBytes > MAX_ORIGIN_BYTES || json.length > MAX_ORIGIN_BYTES) return
    const hash = hashOf(input, start, end)
    this.#forget(hash)
    const bytes = new Uint8Array(wireBytes + json.length)
    bytes.set(new Uint8Array(input.buffer, input.byteOffset + start, wireBytes))
    bytes.set(json, wireBytes)
    this.#entries.set(hash, { wire: new DataView(bytes.buffer, 0, wireBytes), json: bytes.subarray(wireBytes), service, tenantId })
    this.#bytes += bytes.length + ENTRY_BYTES
    while (this.#bytes > MAX_BYTES_OF_ALL) this.#forget(this.#entries.keys().next().value!)
  }

  #forget(hash: number): void {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return
    this.#entries.delete(hash)
    this.#bytes -= entry.wire.buffer.byteLength + ENTRY_BYTES
  }
}

function hashOf(input: DataView, start: number, end: number): number {
  let hash = end - start
  for (let p = start; p + 4 <= end; p += 4) hash = Math.imul(hash, 0x9e3779b1) ^ input.getInt32(p, true)
  return hash
}

function isEqual(input: DataView, start: number, end: number, wire: DataView): boolean {
  const length = end - start
  if (wire.byteLength !== length) return false
  let p = 0
  for (; p + 4 <= length; p += 4) if (input.getInt32(start + p, true) !== wire.getInt32(p, true)) return false
  for (; p < length; p++) if (input.getUint8(start + p) !== wire.getUint8(p)) return false
  return true
}
