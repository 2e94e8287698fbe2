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
  /** The masked message. */
  readonly masked: Uint8Array
  /** With a leading comma. */
  readonly members: Uint8Array
  /** Pattern boosts of scoring may count for the part of its messages that is not masked. */
  readonly isTelling: boolean
}

const MAX_PATTERNS = 20_000
/** Memory of all patterns and their members. */
const MAX_BYTES_OF_ALL = 16 * 1024 * 1024
const MASK_BYTES = Buffer.from(MASK)
/** FNV-1a. */
const HASH_START = 0x811c9dc5
const HASH_PRIME = 0x01000193

/**
 * `pattern_id` and `pattern` of messages as JSON members, remembered by pattern: logs have many messages and few patterns. Found by a hash
 * of the masked bytes; where two patterns share one, the later takes the place.
 */
export class PatternMembers {
  readonly #patterns = new Map<number, Pattern>()
  /** The masked message: every character may take 4 bytes, and become a mask. */
  readonly #masked = Buffer.alloc(MAX_PATTERN_INPUT * (4 + MASK.length))
  #bytes = 0
  #length = 0
  #hash = 0
  #hasTellingPart = false

  /** The message is UTF-8; the byte behind it must be there. */
  of(b: Buffer, from: number, to: number): Pattern {
    this.#mask(b, from, to)
    const known = this.#patterns.get(this.#hash)
    if (known !== undefined && this.#masked.compare(known.masked, 0, known.masked.length, 0, this.#length) === 0) return known
    const text = this.#masked.toString('utf8', 0, this.#length)
    const id = patternId(text)
    const members = Buffer.from(`,"pattern_id":"${id}","pattern":${JSON.stringify(text)}`)
    if (this.#patterns.size >= MAX_PATTERNS || this.#bytes > MAX_BYTES_OF_ALL) {
      this.#patterns.clear()
      this.#bytes = 0
    }
    const masked = Uint8Array.from(this.#masked.subarray(0, this.#length))
    const pattern = { masked, members, hash: hashPattern(id, 0), text: patternText(text), isTelling: isTellingPattern(text) }
    this.#bytes += masked.length + members.length + pattern.text.length
    this.#patterns.set(this.#hash, pattern)
    return pattern
  }

  /** Whether pattern boosts of scoring may count for the message asked for last, whose pattern it is. */
  isTelling(pattern: Pattern): boolean {
    return pattern.isTelling || this.#hasTellingPart
  }

  #mask(b: Buffer, from: number, to: number): void {
    const end = endOfPatternInput(b, from, to)
    const behind = b[end]!
    b[end] = 0
    const count = findMasked(b, from, end)
    b[end] = behind
    this.#hasTellingPart = end < to
    for (let i = 0; i < wordRanges[0]! && !this.#hasTellingPart; i++)
      this.#hasTellingPart = isTellingPart(b, wordRanges[2 * i + 1]!, wordRanges[2 * i + 2]!)
    this.#length = 0
    this.#hash = HASH_START
    let copied = from
    for (let i = 0; i < count; i++) {
      this.#append(b, copied, maskedRanges[2 * i]!)
      this.#append(MASK_BYTES, 0, MASK_BYTES.length)
      copied = maskedRanges[2 * i + 1]!
    }
    this.#append(b, copied, end)
  }

  #append(source: Buffer, from: number, to: number): void {
    const masked = this.#masked
    let at = this.#length
    let hash = this.#hash
    for (let p = from; p < to; p++) {
      const byte = source[p]!
      masked[at++] = byte
      hash = Math.imul(hash ^ byte, HASH_PRIME)
    }
    this.#length = at
    this.#hash = hash
  }
}
