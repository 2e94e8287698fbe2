/**
 * Snappy, unpacked within a bound: single blocks, and the chunks with a header that Java's clients write (xerial). Format: format_description.txt of the
 * Snappy project.
 */
import { copyBytes, repeatBytes } from './copy-bytes.ts'
import { TooLong } from './too-long.ts'

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
/** Magic number, version, compatible version. */
const XERIAL_HEADER_BYTES = 16

type OnBlock = (block: Buffer) => void

/** Throws `TooLong` where more than `maxBytes` would come out, `RangeError` for bytes that are no Snappy. */
export function decompressSnappy(packed: Buffer, maxBytes: number): Buffer {
  const readBlocks = packed.subarray(0, XERIAL.length).equals(XERIAL) ? readXerial : readAlone
  let size = 0
  // Twice over the blocks: a list of them would take many times the bytes of small ones.
  readBlocks(packed, block => {
    size += plainLength(block).value
    if (size > maxBytes) throw new TooLong('snappy', maxBytes)
  })
  const plain = Buffer.allocUnsafeSlow(size)
  let to = 0
  readBlocks(packed, block => {
    const end = to + plainLength(block).value
    unpackBlock(block, plain.subarray(to, end))
    to = end
  })
  return plain
}

const readAlone = (packed: Buffer, onBlock: OnBlock) => onBlock(packed)

function readXerial(packed: Buffer, onBlock: OnBlock): void {
  for (let at = XERIAL_HEADER_BYTES; at < packed.length; ) {
    const start = at + 4
    const end = start > packed.length ? Number.POSITIVE_INFINITY : start + packed.readUInt32BE(at)
    if (end > packed.length) throw malformed('it ends within a chunk')
    onBlock(packed.subarray(start, end))
    at = end
  }
}

/** The length that a block begins with, and where it goes on. */
function plainLength(block: Uint8Array): { readonly value: number; readonly end: number } {
  let value = 0
  for (let at = 0, scale = 1; at < 5; at++, scale *= 128) {
    const byte = byteAt(block, at)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, end: at + 1 }
  }
  throw malformed('its length is none')
}

const LITERAL = 0
const SHORT_COPY = 1
const COPY = 2

function unpackBlock(block: Uint8Array, plain: Uint8Array): void {
  let to = 0
  for (let at = plainLength(block).end; at < block.length; ) {
    const tag = block[at++]!
    const kind = tag & 3
    if (kind === LITERAL) {
      let length = tag >>> 2
      if (length >= 60) {
        const bytes = length - 59
        length = littleEndian(block, at, bytes)
        at += bytes
      }
      length++
      if (at + length > block.length || to + length > plain.length) throw malformed('a literal is longer than what is left')
      to = copyBytes(block, at, plain, to, length)
      at += length
      continue
    }
    const offsetBytes = kind === SHORT_COPY ? 1 : kind === COPY ? 2 : 4
    const low = littleEndian(block, at, offsetBytes)
    at += offsetBytes
    const offset = kind === SHORT_COPY ? low + (tag >>> 5) * 256 : low
    const length = kind === SHORT_COPY ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
    if (offset === 0 || offset > to || to + length > plain.length) throw malformed('it repeats bytes that are not there')
    to = repeatBytes(plain, to, offset, length)
  }
  if (to !== plain.length) throw malformed(`${plain.length} bytes were packed, ${to} came out`)
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = count - 1; i >= 0; i--) value = value * 256 + byteAt(bytes, at + i)
  return value
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw malformed('it ends too early')
  return byte
}

const malformed = (problem: string) => new RangeError(`snappy: ${problem}`)
