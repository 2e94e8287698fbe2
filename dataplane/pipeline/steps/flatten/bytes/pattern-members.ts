/** The pattern of a message, as JSON members of its flat record. */
import { isTellingPart, isTellingPattern } from '../../../../domain/anomalies/scoring.ts'
import {
  endOfPatternInput,
  findMasked,
  MASK,
  MAX_PATTERN_INPUT,
  maskedRanges,
  patternId,
  wordRanges,
} from '../../../../domain/records/pattern.ts'
import type { KnownPattern } from '../../../flat-record-layout.ts'
import { hashPattern, patternText } from '../../../signal-fields.ts'

/** A pattern that messages have. */
export interface Pattern extends KnownPattern {
  /** The masked message by fours, zeros behind it. */
  readonly masked: Int32Array
  /** In bytes. */
  readonly maskedLength: number
  /** With a leading comma. */
  readonly members: Uint8Array
  /** Pattern boosts of scoring may count for the part of its messages that is not masked. */
  readonly isTelling: boolean
}

const MAX_PATTERNS = 20_000
/** Memory of all patterns and their members. */
const MAX_BYTES_OF_ALL = 16 * 1024 * 1024
const MASK_BYTES = Buffer.from(MASK)
/** The hash is FNV-1a with four bytes at a time. */
const HASH_START = 0x811c9dc5
const HASH_PRIME = 0x01000193
/** Bytes are moved by fours: up to three more than there are. */
const SPARE_BYTES = 4

/**
 * `pattern_id` and `pattern` of messages as JSON members, remembered by pattern: logs have many messages and few patterns. Found by a hash
 * of the masked bytes; where two patterns share one, the later takes the place.
 */
export class PatternMembers {
  readonly #patterns = new Map<number, Pattern>()
  /** The masked message: every character may take 4 bytes, and become a mask. */
  readonly #masked = Buffer.alloc(MAX_PATTERN_INPUT * (4 + MASK.length) + SPARE_BYTES)
  readonly #maskedView = new DataView(this.#masked.buffer, this.#masked.byteOffset, this.#masked.length)
  readonly #b: Buffer
  readonly #view: DataView
  #bytes = 0
  #length = 0
  #hash = 0
  #hasTellingPart = false

  /** For messages in `bytes`, with four bytes behind each. */
  constructor(bytes: Buffer) {
    this.#b = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** The message is UTF-8. */
  of(from: number, to: number): Pattern {
    this.#mask(from, to)
    const known = this.#patterns.get(this.#hash)
    if (known !== undefined && this.#isMaskedAs(known)) return known
    const text = this.#masked.toString('utf8', 0, this.#length)
    const id = patternId(text)
    const members = Buffer.from(`,"pattern_id":"${id}","pattern":${JSON.stringify(text)}`)
    if (this.#patterns.size >= MAX_PATTERNS || this.#bytes > MAX_BYTES_OF_ALL) {
      this.#patterns.clear()
      this.#bytes = 0
    }
    const masked = Int32Array.from({ length: Math.ceil(this.#length / 4) }, (_, i) => this.#maskedView.getInt32(4 * i, true))
    const maskedLength = this.#length
    const pattern = { masked, maskedLength, members, hash: hashPattern(id, 0), text: patternText(text), isTelling: isTellingPattern(text) }
    this.#bytes += masked.byteLength + members.length + pattern.text.length
    this.#patterns.set(this.#hash, pattern)
    return pattern
  }

  /** Whether pattern boosts of scoring may count for the message asked for last, whose pattern it is. */
  isTelling(pattern: Pattern): boolean {
    return pattern.isTelling || this.#hasTellingPart
  }

  #mask(from: number, to: number): void {
    const b = this.#b
    const end = endOfPatternInput(b, from, to)
    const behind = b[end]!
    b[end] = 0
    const count = findMasked(b, from, end)
    b[end] = behind
    this.#hasTellingPart = end < to
    for (let i = 0; i < wordRanges[0]! && !this.#hasTellingPart; i++)
      this.#hasTellingPart = isTellingPart(b, wordRanges[2 * i + 1]!, wordRanges[2 * i + 2]!)
    const masked = this.#masked
    let length = 0
    let copied = from
    for (let i = 0; i < count; i++) {
      length = this.#append(copied, maskedRanges[2 * i]!, length)
      masked[length++] = MASK_BYTES[0]!
      masked[length++] = MASK_BYTES[1]!
      masked[length++] = MASK_BYTES[2]!
      copied = maskedRanges[2 * i + 1]!
    }
    this.#length = this.#append(copied, end, length)
    this.#hash = this.#hashMasked()
  }

  #append(from: number, to: number, at: number): number {
    const view = this.#view
    const masked = this.#maskedView
    const length = to - from
    for (let i = 0; i < length; i += 4) masked.setInt32(at + i, view.getInt32(from + i, true), true)
    return at + length
  }

  #isMaskedAs({ masked, maskedLength }: Pattern): boolean {
    if (maskedLength !== this.#length) return false
    const view = this.#maskedView
    for (let i = 0; i < masked.length; i++) if (view.getInt32(4 * i, true) !== masked[i]) return false
    return true
  }

  /** Puts zeros behind the masked message. */
  #hashMasked(): number {
    const masked = this.#maskedView
    masked.setInt32(this.#length, 0, true)
    let hash = HASH_START
    for (let at = 0; at < this.#length; at += 4) {
      hash = Math.imul(hash ^ masked.getInt32(at, true), HASH_PRIME)
      hash ^= hash >>> 15
    }
    return hash
  }
}
