/** Bytes written one after the other into memory that grows, and read again. Numbers take seven bits a byte. */
import { grown } from '../../../../grown.ts'

/** From so many bytes on a copy by the runtime is faster than one by hand. */
export const LONG_BYTES = 48

export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4_096)
  length = 0

  clear(): void {
    this.length = 0
  }

  /** Makes room, and returns the memory: valid until more room is asked for. */
  room(count: number): Uint8Array {
    if (this.length + count > this.#bytes.length) this.#bytes = grown(this.#bytes, Math.max(2 * this.#bytes.length, this.length + count))
    return this.#bytes
  }

  byte(value: number): void {
    this.room(1)[this.length++] = value
  }

  /** A whole number below 2^53. */
  number(value: number): void {
    const bytes = this.room(8)
    let left = value
    for (; left > 0x7f; left = Math.floor(left / 128)) bytes[this.length++] = (left % 128) | 0x80
    bytes[this.length++] = left
  }

  add(source: Uint8Array, start = 0, end = source.length): void {
    const bytes = this.room(end - start)
    if (end - start > LONG_BYTES) {
      bytes.set(source.subarray(start, end), this.length)
      this.length += end - start
      return
    }
    let at = this.length
    for (let k = start; k < end; k++) bytes[at++] = source[k]!
    this.length = at
  }

  text(source: Uint8Array, start = 0, end = source.length): void {
    this.number(end - start)
    this.add(source, start, end)
  }

  /** Valid until more is written. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }
}

export class ByteReader {
  readonly bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  byte(): number {
    return this.bytes[this.at++]!
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++]!
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  take(count: number): Buffer {
    this.at += count
    return this.bytes.subarray(this.at - count, this.at)
  }

  text(): Buffer {
    return this.take(this.number())
  }
}
