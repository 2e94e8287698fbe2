/** Remembers the JSON of resources and scopes: those of one sender are the same from request to request. */

/** A resource or scope as it was transcoded. */
export interface KnownOrigin {
  readonly wire: DataView
  readonly json: Uint8Array
  /** The resource attributes `service.name` and `tenant_id`, where they are strings. */
  readonly service: string | undefined
  readonly tenantId: string | undefined
}

/** Places of a table; where two origins fall on one place, the later stays. */
const SLOTS = 128
/** Longer ones, in protobuf or JSON, are transcoded each time. */
export const MAX_ORIGIN_BYTES = 4_096

export class KnownOrigins {
  readonly #slots: (KnownOrigin | undefined)[] = new Array(SLOTS).fill(undefined)

  /** The origin that was transcoded from the same bytes. */
  find(input: DataView, start: number, end: number): KnownOrigin | undefined {
    if (end - start > MAX_ORIGIN_BYTES) return undefined
    const known = this.#slots[slotOf(input, start, end)]
    return known !== undefined && isEqual(input, start, end, known.wire) ? known : undefined
  }

  /** The memory of `wire` and `json` belongs to the table from then on. */
  add(origin: KnownOrigin): void {
    this.#slots[slotOf(origin.wire, 0, origin.wire.byteLength)] = origin
  }
}

function slotOf(input: DataView, start: number, end: number): number {
  let hash = end - start
  for (let p = start; p + 4 <= end; p += 4) hash = Math.imul(hash, 0x9e3779b1) ^ input.getInt32(p, true)
  return (hash ^ (hash >>> 15) ^ (hash >>> 24)) & (SLOTS - 1)
}

function isEqual(input: DataView, start: number, end: number, wire: DataView): boolean {
  const length = end - start
  if (wire.byteLength !== length) return false
  let p = 0
  for (; p + 4 <= length; p += 4) if (input.getInt32(start + p, true) !== wire.getInt32(p, true)) return false
  for (; p < length; p++) if (input.getUint8(start + p) !== wire.getUint8(p)) return false
  return true
}
