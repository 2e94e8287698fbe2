/** Remembers the UUIDs that were made last, each with its name, so that the pair is recognised without its hash being made again. */

/** A power of two: those of the batches that wait for the store at full load, and of the one that is made meanwhile. */
const MAX_UUIDS = 8_192
const UUID_BYTES = 16
const WORD_BYTES = 4
/** Longer names are not remembered. */
const MAX_NAME_BYTES = 112
const ROW_BYTES = UUID_BYTES + MAX_NAME_BYTES
/** Rows by bits of their UUIDs: a power of two, several times as many. */
const PLACES = 32_768

export class RecentUuids {
  /** UUID and name. The one that came first is written over. */
  readonly #rows = Buffer.alloc(MAX_UUIDS * ROW_BYTES)
  readonly #view = new DataView(this.#rows.buffer, this.#rows.byteOffset, this.#rows.length)
  /** By row: bytes of the name; 0: there is none. */
  readonly #lengths = new Uint8Array(MAX_UUIDS)
  readonly #places = new Uint16Array(PLACES)
  #next = 0

  /** Remembers `uuid` as the one of `name`. */
  add(name: Uint8Array, uuid: Uint8Array): void {
    const { length } = name
    if (length > MAX_NAME_BYTES) return
    const row = this.#next
    this.#next = (row + 1) % MAX_UUIDS
    this.#places[placeOf(uuid, 0)] = row
    this.#lengths[row] = length
    const rows = this.#rows
    const at = ROW_BYTES * row
    for (let k = 0; k < UUID_BYTES; k++) rows[at + k] = uuid[k]!
    rows.set(name, at + UUID_BYTES)
  }

  /** Whether the UUID at `at` of `uuids` is remembered as the one of the name in the first `length` bytes of `name`. */
  has(name: DataView, length: number, uuids: Uint8Array, at: number): boolean {
    const row = this.#places[placeOf(uuids, at)]!
    if (length === 0 || this.#lengths[row] !== length) return false
    const rows = this.#rows
    const view = this.#view
    const from = ROW_BYTES * row
    for (let k = 0; k < UUID_BYTES; k++) if (rows[from + k] !== uuids[at + k]) return false
    const start = from + UUID_BYTES
    const whole = length - (length % WORD_BYTES)
    for (let k = 0; k < whole; k += WORD_BYTES) if (view.getInt32(start + k) !== name.getInt32(k)) return false
    for (let k = whole; k < length; k++) if (rows[start + k] !== name.getUint8(k)) return false
    return true
  }
}

const placeOf = (uuid: Uint8Array, at: number): number => (uuid[at]! | (uuid[at + 1]! << 8)) % PLACES
