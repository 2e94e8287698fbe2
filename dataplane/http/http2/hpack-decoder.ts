/** Reads header blocks (RFC 7541). */
import type { Buffer } from 'node:buffer'
import { decodeHuffman } from './hpack-huffman.ts'
import { type HeaderField, STATIC_TABLE } from './hpack-static-table.ts'
import { ConnectionFault, ERROR_CODE } from './protocol.ts'

/** Size of a table entry beside its texts (RFC 7541, 4.1). */
const ENTRY_OVERHEAD = 32
/** The size of the table that this side grants: the default, so that nothing has to be agreed on. */
const MAX_TABLE_BYTES = 4096
const MAX_INTEGER = 0xff_ffff

export class HpackDecoder {
  readonly #maxListBytes: number
  /** Newest last. */
  readonly #table: HeaderField[] = []
  #tableBytes = 0
  #tableLimit = MAX_TABLE_BYTES
  #at = 0
  #end = 0

  /** `maxListBytes`: of the fields of one block, as they count in the table. */
  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes
  }

  /** The fields of a whole block, undefined when they are too many. Throws a `ConnectionFault`. */
  decode(block: Buffer, start: number, end: number): readonly HeaderField[] | undefined {
    const fields: HeaderField[] = []
    let listBytes = 0
    this.#at = start
    this.#end = end
    while (this.#at < end) {
      const first = block[this.#at]!
      if (first >= 0x20 && first < 0x40) {
        if (listBytes > 0) throw malformed('a table size within the block')
        this.#resize(this.#integer(block, 5))
        continue
      }
      const field = first >= 0x80 ? this.#lookUp(this.#integer(block, 7)) : this.#literal(block, first)
      listBytes += sizeOf(field)
      if (listBytes <= this.#maxListBytes) fields.push(field)
    }
    return listBytes <= this.#maxListBytes ? fields : undefined
  }

  #literal(block: Buffer, first: number): HeaderField {
    const isIndexed = first >= 0x40
    const index = this.#integer(block, isIndexed ? 6 : 4)
    const name = index === 0 ? this.#text(block) : this.#lookUp(index)[0]
    const field: HeaderField = [name, this.#text(block)]
    if (isIndexed) this.#add(field)
    return field
  }

  #lookUp(index: number): HeaderField {
    const field = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table[this.#table.length + STATIC_TABLE.length - index]
    if (field === undefined) throw malformed(`index ${index}`)
    return field
  }

  #add(field: HeaderField): void {
    this.#tableBytes += sizeOf(field)
    this.#table.push(field)
    this.#evict()
  }

  #resize(limit: number): void {
    if (limit > MAX_TABLE_BYTES) throw malformed(`a table of ${limit} bytes`)
    this.#tableLimit = limit
    this.#evict()
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableLimit) this.#tableBytes -= sizeOf(this.#table.shift()!)
  }

  #integer(block: Buffer, prefixBits: number): number {
    const mask = (1 << prefixBits) - 1
    let value = this.#byte(block) & mask
    if (value < mask) return value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte(block)
      value += (byte & 0x7f) * 2 ** shift
      if (value > MAX_INTEGER || shift > 28) throw malformed('an integer that large')
      if (byte < 0x80) return value
    }
  }

  #text(block: Buffer): string {
    if (this.#at >= this.#end) throw malformed('the end within a field')
    const isHuffman = block[this.#at]! >= 0x80
    const length = this.#integer(block, 7)
    const start = this.#at
    const end = start + length
    if (end > this.#end) throw malformed('the end within a text')
    this.#at = end
    const text = isHuffman ? decodeHuffman(block, start, end) : block.toString('latin1', start, end)
    if (text === undefined) throw malformed('a text that is no Huffman code')
    return text
  }

  #byte(block: Buffer): number {
    if (this.#at >= this.#end) throw malformed('the end within a field')
    return block[this.#at++]!
  }
}

const sizeOf = ([name, value]: HeaderField) => ENTRY_OVERHEAD + name.length + value.length

const malformed = (saw: string) => new ConnectionFault(ERROR_CODE.compression, `header block: saw ${saw}`)
