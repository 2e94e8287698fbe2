/** Remembers the JSON of resources and scopes: those of one sender are the same from request to request. */
import { KnownBytes, type Place } from '../memory/known-bytes.ts'

/** A resource or scope as it was transcoded. */
export interface KnownOrigin {
  readonly json: Uint8Array
  /** The resource attributes `service.name` and `tenant_id`, where they are strings. */
  readonly service: string | undefined
  readonly tenantId: string | undefined
}

/** The same; the JSON lies at the place. */
type Remembered = Omit<KnownOrigin, 'json'> & Place

/** Longer ones, in protobuf or JSON, are transcoded each time. */
export const MAX_ORIGIN_BYTES = 4_096
/** All that one table remembers: those of twenty thousand senders. */
export const MAX_BYTES_OF_ALL = 25_165_824
/** Memory of one beside its bytes. */
const ENTRY_BYTES = 250
/** Origins without an owner stay as they came. */
const NO_OWNER = ''

export class KnownOrigins {
  readonly #origins = new KnownBytes<Remembered>(MAX_BYTES_OF_ALL)

  /** The origin that was transcoded from the same bytes; with an owner, that was rewritten for the same one. */
  find(input: DataView, start: number, end: number, owner = NO_OWNER): KnownOrigin | undefined {
    if (end - start > MAX_ORIGIN_BYTES) return undefined
    const known = this.#origins.find(input, start, end, owner)
    if (known === undefined) return undefined
    const { memory, service, tenantId } = known
    return { json: memory.subarray(known.start, known.end), service, tenantId }
  }

  /** Copies the bytes from `start` to `end`, and `json`; a longer one is not remembered. */
  add(input: DataView, start: number, end: number, { json, service, tenantId }: KnownOrigin, owner = NO_OWNER): void {
    if (end - start > MAX_ORIGIN_BYTES || json.length > MAX_ORIGIN_BYTES) return
    const valueAt = (place: Place) => ({ ...place, service, tenantId })
    this.#origins.add(input, start, end, owner, { bytes: json, heldBytes: ENTRY_BYTES, valueAt })
  }
}
