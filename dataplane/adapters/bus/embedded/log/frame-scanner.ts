/** Finds the frames of one segment file, past damage. */
import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type BusFrameHeader, FRAME_MAGIC, headerLengthAt, MIN_FRAME_BYTES, parseFrameHeader } from './bus-frame.ts'

export interface ScannedFrame {
  readonly header: BusFrameHeader
  /** A view that the next call overwrites. */
  readonly body: Buffer
  readonly position: number
  readonly end: number
}

const CHUNK_BYTES = 256 * 1024

/** Reads into a part of the buffer; gives how much. */
export type ReadInto = (descriptor: number, into: Buffer, offset: number, length: number, position: number) => number

/** Walks the frames of one segment file in order, passing over what is damaged. Reads are synchronous: mostly from the page cache. */
export class FrameScanner {
  readonly #descriptor: number
  readonly #salt: number
  /** Called with the range that was passed over. */
  readonly #onDamage: (position: number, length: number) => void
  readonly #read: ReadInto
  #position: number
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #chunkStart = 0
  #chunkEnd = 0

  constructor(
    descriptor: number,
    salt: number,
    position: number,
    onDamage: (position: number, length: number) => void,
    read: ReadInto = readSync,
  ) {
    this.#descriptor = descriptor
    this.#salt = salt
    this.#position = position
    this.#onDamage = onDamage
    this.#read = read
  }

  /** Where the next frame starts. */
  get position(): number {
    return this.#position
  }

  /** Passes over frames that are known already. */
  skipTo(position: number): void {
    this.#position = position
  }

  /** The next sound frame before `limit`, the end of what may be read; undefined when there is none. Where reading fails it throws, and goes on from there. */
  next(limit: number): ScannedFrame | undefined {
    let damagedFrom = -1
    while (this.#position < limit) {
      const frame = this.#frameAt(this.#position, limit)
      if (frame !== undefined) {
        if (damagedFrom >= 0) this.#onDamage(damagedFrom, this.#position - damagedFrom)
        this.#position = frame.end
        return frame
      }
      if (damagedFrom < 0) damagedFrom = this.#position
      this.#position = this.#nextMagic(this.#position + 1, limit)
    }
    if (damagedFrom >= 0) this.#onDamage(damagedFrom, limit - damagedFrom)
    return undefined
  }

  #frameAt(position: number, limit: number): ScannedFrame | undefined {
    if (!this.#load(position, MIN_FRAME_BYTES, limit)) return undefined
    const headerLength = headerLengthAt(this.#chunk, position - this.#chunkStart)
    if (headerLength === 0 || !this.#load(position, headerLength, limit)) return undefined
    const header = parseFrameHeader(this.#chunk, position - this.#chunkStart, headerLength, this.#salt)
    if (header === undefined || !this.#load(position, headerLength + header.bodyLength, limit)) return undefined
    const bodyAt = position - this.#chunkStart + headerLength
    const body = this.#chunk.subarray(bodyAt, bodyAt + header.bodyLength)
    if (crc32(body) !== header.bodyCrc) return undefined
    return { header, body, position, end: position + headerLength + header.bodyLength }
  }

  #nextMagic(from: number, limit: number): number {
    for (let at = from; this.#load(at, MIN_FRAME_BYTES, limit); ) {
      const found = this.#chunk.subarray(at - this.#chunkStart, this.#chunkEnd - this.#chunkStart).indexOf(FRAME_MAGIC)
      if (found >= 0) return at + found
      at = this.#chunkEnd - FRAME_MAGIC.length + 1
    }
    return limit
  }

  /** Makes `length` bytes at `position` available in the chunk; false when they lie beyond `limit` or the file's end. */
  #load(position: number, length: number, limit: number): boolean {
    if (position + length > limit) return false
    if (position >= this.#chunkStart && position + length <= this.#chunkEnd) return true
    if (length > this.#chunk.length) this.#chunk = Buffer.allocUnsafeSlow(length)
    const wanted = Math.min(this.#chunk.length, limit - position)
    // Where reading fails, the chunk holds nothing: its bytes may be of two places.
    this.#chunkEnd = this.#chunkStart = position
    let filled = 0
    while (filled < wanted) {
      const count = this.#read(this.#descriptor, this.#chunk, filled, wanted - filled, position + filled)
      if (count === 0) break
      filled += count
    }
    this.#chunkEnd = position + filled
    return filled >= length
  }
}
