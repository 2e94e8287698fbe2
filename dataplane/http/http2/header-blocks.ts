/** Header blocks of HTTP/2: put together, decoded, bounded. */
import { Buffer } from 'node:buffer'
import { HpackDecoder } from './hpack-decoder.ts'
import type { HeaderField } from './hpack-static-table.ts'
import { ConnectionFault, ERROR_CODE, FLAG } from './protocol.ts'

/** As the fields count by RFC 9113, 6.5.2. */
export const MAX_HEADER_LIST_BYTES = 16 * 1024
/** Length of a header block as it is sent, and the number of its frames. */
const MAX_BLOCK_BYTES = 32 * 1024
const MAX_BLOCK_FRAMES = 16
const PRIORITY_BYTES = 5

export interface HeaderBlock {
  readonly streamId: number
  readonly endsStream: boolean
  /** Undefined when they are too many. */
  readonly fields: readonly HeaderField[] | undefined
}

interface OpenBlock {
  readonly streamId: number
  readonly endsStream: boolean
  readonly pieces: Buffer[]
  size: number
}

/** Puts header blocks together and reads them. Its methods throw a `ConnectionFault`. */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder(MAX_HEADER_LIST_BYTES)
  #open: OpenBlock | undefined

  /** Whether nothing but the rest of a block may come. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** The block, once it is whole. */
  headers(flags: number, streamId: number, bytes: Buffer, start: number, end: number): HeaderBlock | undefined {
    const isPadded = (flags & FLAG.padded) !== 0
    const from = start + (isPadded ? 1 : 0) + ((flags & FLAG.priority) !== 0 ? PRIORITY_BYTES : 0)
    if (from > end) throw new ConnectionFault(ERROR_CODE.frameSize, 'a header frame cut short')
    const to = end - (isPadded ? bytes[start]! : 0)
    if (to < from) throw new ConnectionFault(ERROR_CODE.protocol, 'padding longer than its frame')
    const endsStream = (flags & FLAG.endStream) !== 0
    if ((flags & FLAG.endHeaders) !== 0) return { streamId, endsStream, fields: this.#decoder.decode(bytes, from, to) }
    this.#open = { streamId, endsStream, pieces: [Buffer.from(bytes.subarray(from, to))], size: to - from }
    return undefined
  }

  /** As `headers`. */
  continuation(flags: number, streamId: number, bytes: Buffer, start: number, end: number): HeaderBlock | undefined {
    const open = this.#open
    if (open === undefined || open.streamId !== streamId) throw new ConnectionFault(ERROR_CODE.protocol, 'a continuation of nothing')
    open.pieces.push(Buffer.from(bytes.subarray(start, end)))
    open.size += end - start
    if (open.size > MAX_BLOCK_BYTES || open.pieces.length > MAX_BLOCK_FRAMES)
      throw new ConnectionFault(
        ERROR_CODE.enhanceYourCalm,
        `a header block of more than ${MAX_BLOCK_BYTES} bytes or ${MAX_BLOCK_FRAMES} frames`,
      )
    if ((flags & FLAG.endHeaders) === 0) return undefined
    this.#open = undefined
    return { streamId, endsStream: open.endsStream, fields: this.#decoder.decode(Buffer.concat(open.pieces), 0, open.size) }
  }
}
