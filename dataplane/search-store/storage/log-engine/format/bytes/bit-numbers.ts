/** Whole numbers in so many bits as they need, one behind the other, lowest bit first. */
import { ByteWriter } from './byte-writer.ts'

export const MAX_BITS = 32

/** Bits that a whole number below 2^32 needs. */
export const bitsOf = (value: number): number => 32 - Math.clz32(value)

export class BitWriter {
  #out = new ByteWriter()
  /** Bits that do not fill a byte yet. */
  #held = 0
  #count = 0

  /** The next numbers go there. */
  begin(out: ByteWriter): void {
    this.#out = out
  }

  add(value: number, bits: number): void {
    const bytes = this.#out.room(5)
    let at = this.#out.length
    let left = value
    let need = bits
    while (this.#count + need >= 8) {
      const taken = 8 - this.#count
      bytes[at++] = this.#held | (left << this.#count)
      left = taken >= 32 ? 0 : left >>> taken
      need -= taken
      this.#held = 0
      this.#count = 0
    }
    this.#out.length = at
    if (need <= 0) return
    this.#held |= (left << this.#count) & 0xff
    this.#count += need
  }

  /** The next number begins with a byte. */
  end(): void {
    if (this.#count > 0) this.#out.byte(this.#held)
    this.#held = 0
    this.#count = 0
  }
}

/** The number of `bits` bits at a place counted in bits. */
export function bitsAt(bytes: Uint8Array, place: number, bits: number): number {
  let at = place >>> 3
  let value = bytes[at]! >>> (place & 7)
  for (let have = 8 - (place & 7); have < bits; have += 8) value += bytes[++at]! * 2 ** have
  return bits === 32 ? value % 2 ** 32 : value % 2 ** bits
}
