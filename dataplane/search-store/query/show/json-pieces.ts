/** JSON text of many parts, put together as bytes and decoded in large pieces: a text for each part of each hit would cost several times as much. */

/** A piece is ended once it is so large, bytes. */
const PIECE_BYTES = 64 * 1024
/** Room for a piece and what comes while it is not ended. */
const ROOM_BYTES = 2 * PIECE_BYTES
/** UTF-8 bytes of a UTF-16 unit, at most. */
const UNIT_BYTES = 3
/** More are copied by a call. */
const LONG_BYTES = 128

const NO_ROOM = Buffer.alloc(0)
/** Room that nobody uses: one for each answer would be much garbage. */
let spare: Buffer | undefined

export class JsonPieces {
  #bytes: Buffer = NO_ROOM
  #end = 0

  /** Bytes of the piece under way; `cutTo` takes back what was added since. */
  get length(): number {
    return this.#end
  }

  cutTo(length: number): void {
    this.#end = length
  }

  addText(text: string): void {
    if (text.length === 1) {
      const code = text.charCodeAt(0)
      this.#makeRoom(UNIT_BYTES)
      if (code < 128) {
        this.#bytes[this.#end++] = code
        return
      }
    }
    this.#makeRoom(UNIT_BYTES * text.length)
    this.#end += this.#bytes.write(text, this.#end)
  }

  /** UTF-8 from `start` to `end`. */
  addBytes(source: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start)
    const bytes = this.#bytes
    let at = this.#end
    if (end - start > LONG_BYTES) {
      bytes.set(source.subarray(start, end), at)
      this.#end = at + end - start
      return
    }
    // Short, mostly: a view of them would cost more than the loop.
    for (let from = start; from < end; from++) bytes[at++] = source[from]!
    this.#end = at
  }

  /** The piece under way, where it is large enough or `isLast`; undefined otherwise. */
  take(isLast = false): string | undefined {
    if (this.#end === 0 || (this.#end < PIECE_BYTES && !isLast)) return undefined
    const piece = this.#bytes.toString('utf8', 0, this.#end)
    this.#end = 0
    if (isLast || this.#bytes.length > 2 * ROOM_BYTES) this.#giveRoomBack()
    return piece
  }

  #giveRoomBack(): void {
    if (this.#bytes.length === ROOM_BYTES) spare = this.#bytes
    this.#bytes = NO_ROOM
  }

  #makeRoom(count: number): void {
    const needed = this.#end + count
    if (needed <= this.#bytes.length) return
    const larger = needed > ROOM_BYTES ? Buffer.allocUnsafe(2 * needed) : takeRoom()
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}

function takeRoom(): Buffer {
  const room = spare ?? Buffer.allocUnsafeSlow(ROOM_BYTES)
  spare = undefined
  return room
}
