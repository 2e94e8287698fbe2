/** Pieces of a body, in order. Small ones are put together: each takes some hundred bytes beside its own. */

/** A piece with fewer bytes is small. */
const SMALL_BYTES = 1024
const FIRST_BYTES = 1024
/** Bytes of small pieces that are put together. */
const MAX_JOINED_BYTES = 16 * 1024

const NONE: Buffer = Buffer.alloc(0)

export class BodyPieces {
  #pieces: Buffer[] = []
  /** The memory of small pieces that came one after the other. */
  #joined = NONE
  #joinedBytes = 0

  add(piece: Buffer): void {
    if (piece.length >= SMALL_BYTES) {
      this.#closeJoined()
      this.#pieces.push(piece)
      return
    }
    const bytes = this.#joinedBytes + piece.length
    if (bytes > MAX_JOINED_BYTES) {
      this.#closeJoined()
      this.add(piece)
      return
    }
    // One that stays alone is not copied.
    if (this.#joinedBytes === 0) this.#joined = piece
    else {
      if (bytes > this.#joined.length) this.#grow(bytes)
      this.#joined.set(piece, this.#joinedBytes)
    }
    this.#joinedBytes = bytes
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(MAX_JOINED_BYTES, Math.max(FIRST_BYTES, 2 * bytes)))
    larger.set(this.#joined.subarray(0, this.#joinedBytes))
    this.#joined = larger
  }

  #closeJoined(): void {
    if (this.#joinedBytes > 0) this.#pieces.push(this.#joined.subarray(0, this.#joinedBytes))
    this.#joined = NONE
    this.#joinedBytes = 0
  }

  /** All that came, whose memory is the caller's from here on. */
  take(): Buffer[] {
    this.#closeJoined()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }
}
