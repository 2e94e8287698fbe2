/** A changed copy of bytes, put together from pieces of them and of new text. */
export class Pieces {
  readonly #source: Buffer
  readonly #pieces: Buffer[] = []
  #from = 0
  #sizeBytes = 0

  constructor(source: Buffer) {
    this.#source = source
  }

  /** The bytes from `start` to `end` become `replacement`. Calls go by position. */
  replace(start: number, end: number, replacement: Buffer): void {
    this.#push(this.#source.subarray(this.#from, start))
    this.#push(replacement)
    this.#from = end
  }

  insert(at: number, text: Buffer): void {
    this.replace(at, at, text)
  }

  /** The bytes as changed; the source itself where nothing was. */
  finish(): Buffer {
    if (this.#pieces.length === 0) return this.#source
    this.#push(this.#source.subarray(this.#from))
    return Buffer.concat(this.#pieces, this.#sizeBytes)
  }

  #push(piece: Buffer): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#sizeBytes += piece.length
  }
}
