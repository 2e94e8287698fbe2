/** The body of a plain request, gathered in one piece of memory as it comes. */
import { Buffer } from 'node:buffer'
import { releaseBytes } from '../../memory/release-bytes.ts'
import type { PlainHead } from './plain-head.ts'

/** A client that announces more gets the memory as it sends. */
const FIRST_BYTES = 512 * 1024

/** A body that comes with its head in one chunk is a view of that chunk. */
export class PlainBody {
  readonly #bodyStart: number
  readonly #bodyBytes: number
  /** The chunk that begins with the head. */
  #first: Buffer | undefined
  /** The body so far, where it comes in several chunks. */
  #body: Buffer | undefined
  #size = 0

  constructor({ bodyStart, bodyBytes }: PlainHead) {
    this.#bodyStart = bodyStart
    this.#bodyBytes = bodyBytes
  }

  get isWhole(): boolean {
    return this.#first !== undefined && this.#size >= this.#bodyBytes
  }

  /** Takes the next chunk, the first with the head. What lies behind the body comes back. */
  add(chunk: Buffer): Buffer | undefined {
    const start = this.#first === undefined ? this.#bodyStart : 0
    const end = Math.min(chunk.length, start + this.#bodyBytes - this.#size)
    if (this.#first !== undefined || end - start < this.#bodyBytes) this.#copy(chunk, start, end)
    this.#first ??= chunk
    this.#size += end - start
    if (end < chunk.length) return chunk.subarray(end)
    // Pieces that are left to the garbage collector make it run the more often.
    if (chunk !== this.#first) releaseBytes(chunk)
    return undefined
  }

  /** All that came, from the first byte of the head, and the chunk behind that, in one piece. The memory that it lay in goes back at once: many may be refused together. */
  handOver(chunk: Buffer): Buffer {
    const first = this.#first
    const body = this.#body
    if (first === undefined) return chunk
    if (body === undefined) return Buffer.concat([first, chunk])
    const all = Buffer.concat([first, body.subarray(first.length - this.#bodyStart, this.#size), chunk])
    for (const piece of [first, body]) releaseBytes(piece)
    return all
  }

  /** Gives the memory of a body back that is not wanted. */
  drop(): void {
    for (const piece of [this.#first, this.#body]) if (piece !== undefined) releaseBytes(piece)
  }

  /** The body, once it is whole. */
  take(): Buffer {
    if (this.#body === undefined) return this.#first!.subarray(this.#bodyStart, this.#bodyStart + this.#bodyBytes)
    releaseBytes(this.#first!)
    return this.#body
  }

  #copy(chunk: Buffer, start: number, end: number): void {
    const needed = this.#size + end - start
    if (this.#body === undefined || needed > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#bodyBytes, Math.max(FIRST_BYTES, 2 * needed)))
      this.#body?.copy(larger, 0, 0, this.#size)
      if (this.#body !== undefined) releaseBytes(this.#body)
      this.#body = larger
    }
    chunk.copy(this.#body, this.#size, start, end)
  }
}
