/** The parts of a block whose documents were cut, as they are read: texts, values, and which document has which. */
import { ByteReader, LONG_BYTES } from '../bytes/byte-writer.ts'
import type { BlockParts, ValueReader } from './cut-values.ts'
import { readValues } from './read-values.ts'

/** A block whose parts were found. */
export interface Opened {
  /** Length of the longest document. */
  readonly longest: number
  /** The cut at the message; −1: none is. */
  readonly message: number
  readonly masks: readonly number[]
  /** By document: its mask; undefined: all have one. */
  readonly forms: Uint8Array | undefined
  /** By slot: which document has which text. */
  readonly slots: readonly Slot[]
  /** By cut: a number of `KINDS`. */
  readonly kinds: Uint8Array
  /** By cut. */
  readonly values: readonly ValueReader[]
  /** By cut and document: the how manyeth value it has. */
  readonly ranks: readonly Uint8Array[]
}

export function open(textBytes: Buffer, plainBytes: Buffer, docs: number, ids: Buffer): Opened {
  const texts = new ByteReader(textBytes)
  const plain = new ByteReader(plainBytes)
  const longest = texts.number()
  const cuts = texts.byte()
  const message = texts.byte() - 1
  const kinds = texts.take(cuts)
  const masks = Array.from({ length: texts.byte() }, () => texts.number())
  const forms = masks.length > 1 ? texts.take(docs) : undefined
  const ranks: Uint8Array[] = []
  const counts: number[] = []
  for (let cut = 0; cut < cuts; cut++) {
    const own = new Uint8Array(docs)
    let count = 0
    for (let k = 0; k < docs; k++) {
      own[k] = count
      if ((masks[forms === undefined ? 0 : forms[k]!]! & (1 << cut)) !== 0) count++
    }
    ranks.push(own)
    counts.push(count)
  }
  const slots = Array.from({ length: cuts + 1 }, (_none, slot) => readSlot(texts, slot === 0 ? docs : counts[slot - 1]!))
  const values: ValueReader[] = []
  const parts: BlockParts = { docs, ids, texts, plain, masks, forms, ranks, values, times: undefined }
  for (const [cut, count] of counts.entries()) values.push(readValues(kinds[cut]!, count, parts))
  return { longest, message, masks, forms, slots, kinds, values, ranks }
}

/** Writes document k with the text of its message, if any stands apart; returns where it ends. */
export function write(
  { masks, forms, message, slots, values, ranks }: Opened,
  k: number,
  text: Uint8Array | undefined,
  out: Uint8Array,
): number {
  const mask = masks[forms === undefined ? 0 : forms[k]!]!
  let at = putText(slots[0]!, k, out, 0)
  for (let cut = 0; mask >>> cut !== 0; cut++) {
    if ((mask & (1 << cut)) === 0) continue
    const rank = ranks[cut]![k]!
    if (cut !== message) at = values[cut]!.put(k, rank, out, at)
    else if (text !== undefined) {
      out.set(text, at)
      at += text.length
    }
    at = putText(slots[cut + 1]!, rank, out, at)
  }
  return at
}

function putText({ bytes, starts, codes }: Slot, rank: number, out: Uint8Array, at: number): number {
  const code = codes === undefined ? 0 : codes[rank]!
  return copyBytes(bytes, starts[code]!, starts[code + 1]!, out, at)
}

/** Returns where they end in `out`. */
export function copyBytes(from: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  if (end - start > LONG_BYTES) {
    out.set(from.subarray(start, end), at)
    return at + end - start
  }
  let to = at
  for (let p = start; p < end; p++) out[to++] = from[p]!
  return to
}

/** The texts behind a cut, or at the beginning. */
export interface Slot {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly codes: Buffer | undefined
}

function readSlot(texts: ByteReader, documents: number): Slot {
  const count = texts.number()
  const starts = new Uint32Array(count + 1)
  for (let k = 0; k < count; k++) starts[k + 1] = starts[k]! + texts.number()
  const bytes = texts.take(starts[count]!)
  return { bytes, starts, codes: count > 1 ? texts.take(documents) : undefined }
}
