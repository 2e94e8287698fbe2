/** Reads the wire format of protobuf. */
import { Fault } from '../../json/fault.ts'

/** Protobuf wire types. OTLP uses no groups: a group may stand in a field that it does not know. */
export const Wire = { varint: 0, fixed64: 1, bytes: 2, group: 3, endGroup: 4, fixed32: 5 } as const

/** Groups within each other, in a field that OTLP does not know. */
const MAX_GROUP_DEPTH = 100

/** Tags below this are of fields 1 to 15; OTLP's logs have no others. */
export const KNOWN_TAGS = 128

const NO_BYTES: Uint8Array = new Uint8Array(0)
const NO_VIEW = new DataView(NO_BYTES.buffer)

/** Reads protobuf wire format, field by field. Every read is checked against `end`, the end of the message around. */
export class WireReader {
  bytes = NO_BYTES
  view = NO_VIEW
  /** Where the next read starts. */
  position = 0
  /** The last varint or fixed64, in two unsigned halves; a fixed32 in `low`. */
  low = 0
  high = 0

  /** Reads these bytes from now on. */
  open(bytes: Uint8Array): void {
    this.position = 0
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Holds them no longer. */
  close(): void {
    this.bytes = NO_BYTES
    this.view = NO_VIEW
  }

  /** Field number × 8 + wire type. */
  tag(end: number): number {
    const first = this.bytes[this.position]!
    if (first < 0x80 && first > 7) {
      this.position++
      return first
    }
    const start = this.position
    this.varint(end)
    if (this.high !== 0 || this.low < 8) throw new Fault(start, 'a field number from 1 to 536870911')
    return this.low
  }

  varint(end: number): void {
    const b = this.bytes
    const start = this.position
    let p = start
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (p >= end) throw new Fault(p, 'the rest of a varint')
      if (shift === 70) throw new Fault(start, 'a varint of at most 10 bytes')
      const c = b[p++]!
      const bits = c & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >> 4
      } else high |= bits << (shift - 32)
      if (c < 0x80) break
    }
    this.low = low >>> 0
    this.high = high >>> 0
    this.position = p
  }

  fixed64(end: number): void {
    const p = this.#advance(8, end)
    this.low = this.view.getUint32(p, true)
    this.high = this.view.getUint32(p + 4, true)
  }

  fixed32(end: number): void {
    this.low = this.view.getUint32(this.#advance(4, end), true)
  }

  /** Reads a length and returns where that many bytes end. */
  blockEnd(end: number): number {
    const start = this.position
    const first = this.bytes[start]!
    let length = first
    if (first < 0x80 && start < end) this.position++
    else {
      this.varint(end)
      length = this.high === 0 ? this.low : Number.MAX_SAFE_INTEGER
    }
    const blockEnd = this.position + length
    if (blockEnd > end) throw new Fault(start, 'a length within the message')
    return blockEnd
  }

  /** Passes over the value that belongs to `tag`. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case Wire.varint:
        this.varint(end)
        break
      case Wire.fixed64:
        this.#advance(8, end)
        break
      case Wire.bytes:
        this.position = this.blockEnd(end)
        break
      case Wire.fixed32:
        this.#advance(4, end)
        break
      case Wire.group:
        this.#skipGroup(tag, end)
        break
      default:
        throw new Fault(this.position, (tag & 7) === Wire.endGroup ? 'the start of a group before its end' : 'a wire type from 0 to 5')
    }
  }

  /** Passes over a group whose start was read, and the groups inside, whose tags are kept in a list: nesting takes no stack. */
  #skipGroup(start: number, end: number): void {
    const open = [start]
    while (open.length > 0) {
      if (this.position >= end) throw new Fault(this.position, 'the end of a group')
      const at = this.position
      const tag = this.tag(end)
      if ((tag & 7) === Wire.group) {
        if (open.push(tag) > MAX_GROUP_DEPTH) throw new Fault(at, `at most ${MAX_GROUP_DEPTH} groups within each other`)
      } else if ((tag & 7) !== Wire.endGroup) this.skip(tag, end)
      else if (open.pop() !== tag - 1) throw new Fault(at, 'the end of the group that began last')
    }
  }

  /** Passes over a value whose tag is none of the message's, unless it is one of its fields with the wrong wire type. */
  skipUnknown(message: Readonly<Record<string, number>>, tag: number, end: number): void {
    if (tag < KNOWN_TAGS)
      for (const name in message) {
        const known = message[name]!
        if (known >> 3 === tag >>> 3 && known !== tag) throw new Fault(this.position, `wire type ${known & 7} for ${name}`)
      }
    this.skip(tag, end)
  }

  /** Where the last value of every tag below `KNOWN_TAGS` starts, from `start` to `end`, by tag; others are not remembered. */
  lastPositions(start: number, end: number): Int32Array {
    const positions = new Int32Array(KNOWN_TAGS)
    const { position } = this
    this.position = start
    while (this.position < end) {
      const tag = this.tag(end)
      if (tag < KNOWN_TAGS) positions[tag] = this.position
      this.skip(tag, end)
    }
    this.position = position
    return positions
  }

  #advance(size: number, end: number): number {
    const p = this.position
    if (p + size > end) throw new Fault(p, `${size} more bytes`)
    this.position = p + size
    return p
  }
}
