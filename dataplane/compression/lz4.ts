/**
 * LZ4 frames, unpacked within a bound. The size of the result is counted first, by a walk over the sequences that copies nothing: a frame need not say
 * how much it holds, and each of its bytes can stand for 255. Checksums are not compared: Kafka has compared its own.
 * Format: lz4_Frame_format.md and lz4_Block_format.md of the LZ4 project.
 */
import { copyBytes, repeatBytes } from './copy-bytes.ts'
import { TooLong } from './too-long.ts'

const MAGIC = 0x184d2204
/** Frames for other uses than data lie between other frames, sixteen kinds. */
const FIRST_SKIPPABLE = 0x184d2a50
const SKIPPABLE_KINDS = 16
const MAGIC_BYTES = 4

const VERSION = 0x40
const VERSION_MASK = 0xc0
const BLOCK_CHECKSUM = 0x10
const CONTENT_SIZE = 0x08
const CONTENT_CHECKSUM = 0x04
const DICTIONARY_ID = 0x01
/** In the length of a block: its bytes stand as they are. */
const IS_PLAIN = 0x80000000

const MIN_MATCH_BYTES = 4
/** A length of this value goes on in the bytes behind. */
const LONG_LENGTH = 15

/** Where a block stands in the packed bytes. */
type OnBlock = (start: number, end: number, isPlain: boolean) => void

/** All frames one after the other. Throws `TooLong` where more than `maxBytes` would come out, `RangeError` for bytes that are no LZ4 frame. */
export function decompressLz4(packed: Buffer, maxBytes: number): Buffer {
  let size = 0
  // Twice over the frames: a list of blocks would take many times the bytes of small ones.
  readFrames(packed, (start, end, isPlain) => {
    size += isPlain ? end - start : plainLength(packed, start, end)
    if (size > maxBytes) throw new TooLong('lz4', maxBytes)
  })
  const plain = Buffer.allocUnsafeSlow(size)
  let to = 0
  readFrames(packed, (start, end, isPlain) => {
    to = isPlain ? copyBytes(packed, start, plain, to, end - start) : unpackBlock(packed, start, end, plain, to)
  })
  return plain
}

function readFrames(packed: Buffer, onBlock: OnBlock): void {
  for (let at = 0; at < packed.length; ) {
    const magic = readUint32(packed, at)
    at += MAGIC_BYTES
    if (magic >= FIRST_SKIPPABLE && magic < FIRST_SKIPPABLE + SKIPPABLE_KINDS) at += 4 + readUint32(packed, at)
    else if (magic === MAGIC) at = readFrame(packed, at, onBlock)
    else throw malformed(`no frame begins at byte ${at - MAGIC_BYTES}`)
  }
}

/** Returns where the frame ends. `at`: behind its magic number. */
function readFrame(packed: Buffer, at: number, onBlock: OnBlock): number {
  const flags = packed[at] ?? 0
  if ((flags & VERSION_MASK) !== VERSION) throw malformed('its version is unknown')
  let next = at + 3 // flags, largest block, checksum of the header
  if ((flags & CONTENT_SIZE) !== 0) next += 8
  if ((flags & DICTIONARY_ID) !== 0) next += 4
  for (;;) {
    const length = readUint32(packed, next)
    next += 4
    if (length === 0) break
    const isPlain = length >= IS_PLAIN
    const end = next + (isPlain ? length - IS_PLAIN : length)
    if (end > packed.length) throw malformed('it ends within a block')
    onBlock(next, end, isPlain)
    next = (flags & BLOCK_CHECKSUM) === 0 ? end : end + 4
  }
  return (flags & CONTENT_CHECKSUM) === 0 ? next : next + 4
}

/** How many bytes come out of a block. Throws for one that ends within a length. */
function plainLength(packed: Uint8Array, start: number, end: number): number {
  let length = 0
  for (let at = start; at < end; ) {
    const token = packed[at++]!
    let literals = token >>> 4
    if (literals === LONG_LENGTH)
      for (let byte = 255; byte === 255; ) {
        if (at >= end) throw tooEarly()
        byte = packed[at++]!
        literals += byte
      }
    length += literals
    at += literals
    if (at >= end) break
    at += 2
    let match = token & 0x0f
    if (match === LONG_LENGTH)
      for (let byte = 255; byte === 255; ) {
        if (at >= end) throw tooEarly()
        byte = packed[at++]!
        match += byte
      }
    length += match + MIN_MATCH_BYTES
  }
  return length
}

/** Writes a block, whose length was counted, behind what was unpacked before, to which its matches may go back; returns its end. */
function unpackBlock(packed: Uint8Array, start: number, end: number, plain: Buffer, from: number): number {
  let to = from
  for (let at = start; at < end; ) {
    const token = packed[at++]!
    let literals = token >>> 4
    if (literals === LONG_LENGTH)
      for (let byte = 255; byte === 255; ) {
        byte = packed[at++]!
        literals += byte
      }
    if (at + literals > end) throw malformed('it ends within a literal')
    to = copyBytes(packed, at, plain, to, literals)
    at += literals
    if (at >= end) break
    if (at + 2 > end) throw tooEarly()
    const offset = packed[at]! | (packed[at + 1]! << 8)
    at += 2
    let match = token & 0x0f
    if (match === LONG_LENGTH)
      for (let byte = 255; byte === 255; ) {
        byte = packed[at++]!
        match += byte
      }
    match += MIN_MATCH_BYTES
    if (offset === 0 || offset > to) throw malformed('it repeats bytes that are not there')
    to = repeatBytes(plain, to, offset, match)
  }
  return to
}

function readUint32(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) throw tooEarly()
  return bytes.readUInt32LE(at)
}

const malformed = (problem: string) => new RangeError(`lz4 frame: ${problem}`)
const tooEarly = () => malformed('it ends too early')
