/** Numbers of walked documents in one buffer, which goes from thread to thread and comes back. */
import type { WalkedDocuments, WalkedLengths } from '../../walked-documents.ts'

const NUMBER_BYTES = 8
const WORD_BYTES = 4
/** Per document: ends of terms, codes and numbers, start and end of the message, shape. */
export const DOCUMENT_ROW = 6
/** Start of a message that does not stand apart, or is not there. */
export const NO_MESSAGE = -1
/** In the place of the start of a message: the document was not walked, and brings nothing. */
export const NOT_WALKED = -2
/** Per value: slot, hash, start and end in the bytes of the values. */
export const VALUE_ROW = 5

/** Parts of the buffer. */
export interface WalkedWords {
  readonly numbers: Float64Array
  readonly rows: Int32Array
  readonly numberSlots: Int32Array
  /** `[slot, value]` pairs. */
  readonly codes: Int32Array
  readonly values: Int32Array
  /** `[word, bits]` of the filter of neighbours. */
  readonly pairs: Int32Array
  /** `[lo, hi]` pairs. */
  readonly terms: Int32Array
}

export function walkedBytes(count: number, { numberEnd, codeEnd, termEnd, pairEnd, values }: WalkedLengths): number {
  return NUMBER_BYTES * numberEnd + WORD_BYTES * (DOCUMENT_ROW * count + numberEnd + codeEnd + VALUE_ROW * values + pairEnd + termEnd)
}

export function walkedWords({ words, count, lengths }: Pick<WalkedDocuments, 'words' | 'count' | 'lengths'>): WalkedWords {
  const { numberEnd, codeEnd, termEnd, pairEnd, values } = lengths
  let at = NUMBER_BYTES * numberEnd
  const next = (length: number) => {
    const part = new Int32Array(words, at, length)
    at += WORD_BYTES * length
    return part
  }
  return {
    numbers: new Float64Array(words, 0, numberEnd),
    rows: next(DOCUMENT_ROW * count),
    numberSlots: next(numberEnd),
    codes: next(codeEnd),
    values: next(VALUE_ROW * values),
    pairs: next(pairEnd),
    terms: next(termEnd),
  }
}
