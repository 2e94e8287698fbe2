/** Some members of documents that were cut, without the others: texts that many documents have are looked at once for all of them. */
import { BACKSLASH, CLOSE_OBJECT, COLON, COMMA, DOT, NOWHERE, OPEN_OBJECT, QUOTE } from '../../../../../json/bytes.ts'
import { roughEnd } from '../../../../../json/rough.ts'
import { nextKeyHash } from '../../../../json/key-table.ts'
import type { MemberPick } from '../../../member-pick.ts'
import { copyBytes, type Opened, type Slot } from './cut-parts.ts'
import { KINDS } from './cut-values.ts'

export interface Picker {
  readonly pick: MemberPick
  /** Writes the picked members of document k to `out`, which has room for the document; returns where they end. `NOWHERE`: the document has to be looked at. */
  write(k: number, out: Uint8Array): number
}

/** A text between two cuts. */
interface Piece {
  /** False: it does not tell where its members begin and end, or a message is picked, which stands elsewhere. */
  readonly isTold: boolean
  /** Where the value ends whose key stands in front of the cut; else where the text begins. */
  readonly valueEnd: number
  /** Starts and ends of picked members in the bytes of the slot. The last one may end with its key. */
  readonly ranges: readonly number[]
  /** Whether the value that the cut took out is picked. */
  readonly takesValue: boolean
}

export function pickerOf({ slots, masks, forms, ranks, values, kinds, message }: Opened, pick: MemberPick): Picker {
  const pieces: (Piece | undefined)[][] = slots.map(() => [])
  const pieceAt = (slot: number, code: number): Piece => {
    const begins = slot === 0 ? 'document' : slot - 1 === message ? 'message' : kinds[slot - 1] === KINDS.nothing ? 'value' : 'member'
    const piece = readPiece(slots[slot]!, code, begins, pick)
    pieces[slot]![code] = piece
    return piece
  }
  const write = (k: number, out: Uint8Array): number => {
    const mask = masks[forms === undefined ? 0 : forms[k]!]!
    out[0] = OPEN_OBJECT
    let at = 1
    let takesValue = false
    // The text at the beginning stands behind cut −1.
    for (let cut = -1, rank = k; ; ) {
      const { bytes, codes, starts } = slots[cut + 1]!
      const code = codes === undefined ? 0 : codes[rank]!
      const piece = pieces[cut + 1]![code] ?? pieceAt(cut + 1, code)
      if (!piece.isTold) return NOWHERE
      if (takesValue) {
        at = values[cut]!.put(k, rank, out, at)
        at = copyBytes(bytes, starts[code]!, piece.valueEnd, out, at)
      }
      const { ranges } = piece
      for (let range = 0; range < ranges.length; range += 2) {
        if (at > 1) out[at++] = COMMA
        at = copyBytes(bytes, ranges[range]!, ranges[range + 1]!, out, at)
      }
      takesValue = piece.takesValue
      do cut++
      while (mask >>> cut !== 0 && (mask & (1 << cut)) === 0)
      if (mask >>> cut === 0) break
      rank = ranks[cut]![k]!
    }
    out[at++] = CLOSE_OBJECT
    return at
  }
  return { pick, write }
}

const NOT_TOLD: Piece = { isTold: false, valueEnd: 0, ranges: [], takesValue: false }

/** Members of documents as the pipeline writes them: without spaces between. Others are not told. */
function readPiece({ bytes, starts }: Slot, code: number, begins: 'document' | 'member' | 'value' | 'message', pick: MemberPick): Piece {
  const from = starts[code]!
  const end = starts[code + 1]!
  let p = from
  if (begins === 'message') {
    if (end === from || bytes[p++] !== QUOTE) return NOT_TOLD
  } else if (begins === 'value') {
    p = roughEnd(bytes, p, end)
    if (p === NOWHERE) return NOT_TOLD
  }
  const valueEnd = p
  const ranges: number[] = []
  for (let before = begins === 'document' ? OPEN_OBJECT : COMMA; ; before = COMMA) {
    if (p >= end) return NOT_TOLD
    if (bytes[p] === CLOSE_OBJECT) return p + 1 === end ? { isTold: true, valueEnd, ranges, takesValue: false } : NOT_TOLD
    if (bytes[p] !== before) return NOT_TOLD
    const keyStart = ++p
    if (bytes[p++] !== QUOTE) return NOT_TOLD
    let isPicked = false
    let hash = 0
    for (let byte = bytes[p]; byte !== QUOTE; byte = bytes[++p]) {
      if (p >= end || byte === BACKSLASH) return NOT_TOLD
      if (byte === DOT && !isPicked) isPicked = pick.parents.find(bytes, keyStart + 1, p, hash) !== undefined
      hash = nextKeyHash(hash, byte!)
    }
    isPicked ||= pick.names.find(bytes, keyStart + 1, p, hash) !== undefined
    if (++p >= end || bytes[p++] !== COLON) return NOT_TOLD
    if (p === end) {
      if (isPicked) add(ranges, keyStart, p)
      return { isTold: true, valueEnd, ranges, takesValue: isPicked }
    }
    // The quote in front of a message that stands apart.
    if (p + 1 === end && bytes[p] === QUOTE) return isPicked ? NOT_TOLD : { isTold: true, valueEnd, ranges, takesValue: false }
    p = roughEnd(bytes, p, end)
    if (p === NOWHERE) return NOT_TOLD
    if (isPicked) add(ranges, keyStart, p)
  }
}

/** Neighbours are one range, with the comma between them. */
function add(ranges: number[], start: number, end: number): void {
  if (ranges.length > 0 && ranges[ranges.length - 1] === start - 1) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}
