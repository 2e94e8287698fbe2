/** Reads scalars of OTLP JSON: checks that they are what their field holds, and brings them into their canonical form. */
import { DOT, hasEscape, isDigit, MINUS, QUOTE, textBetween, ZERO } from '../../json/bytes.ts'
import { Fault } from '../../json/fault.ts'
import { boolEnd, closingQuote, numberEnd } from '../../json/strict.ts'
import type { EditList } from '../layout.ts'
import { canonicalInteger, type IntegerRange, isBase64 } from './json-scalars.ts'

/** Arguments and results are positions in the text. */
export class ScalarReader {
  readonly #b: Uint8Array
  readonly #edits: EditList
  /** The value of the integer read last, where it was spelled in an unusual way. */
  canonical: string | undefined

  constructor(text: Uint8Array, edits: EditList) {
    this.#b = text
    this.#edits = edits
  }

  /** The string whose text lies between the positions. */
  decoded(start: number, end: number): string {
    const text = textBetween(this.#b, start, end)
    return hasEscape(this.#b, start, end) ? JSON.parse(`"${text}"`).toWellFormed() : text
  }

  /** A string of digits or a number without a fraction; a number that is not exact as a double becomes a string. */
  integer(start: number, range: IntegerRange): number {
    const b = this.#b
    const quoted = b[start] === QUOTE
    const digits = quoted ? start + 1 : start
    let p = digits
    while (isDigit(b[p])) p++
    const length = p - digits
    const plain = length > 0 && length <= range.plainDigits && (b[digits] !== ZERO || length === 1)
    if (plain && quoted && b[p] === QUOTE) return p + 1
    if (plain && !quoted && length <= 15 && b[p] !== DOT && b[p] !== 0x65 && b[p] !== 0x45) return p
    return this.#unusualInteger(start, range)
  }

  #unusualInteger(start: number, range: IntegerRange): number {
    const b = this.#b
    const quoted = b[start] === QUOTE
    if (!quoted && b[start] !== MINUS && !isDigit(b[start])) throw new Fault(start, range.expected)
    const end = quoted ? closingQuote(b, start + 1, this.#edits) + 1 : numberEnd(b, start)
    const text = quoted ? this.decoded(start + 1, end - 1) : this.decoded(start, end)
    const canonical = canonicalInteger(text, range)
    if (canonical === undefined) throw new Fault(start, range.expected)
    if (!quoted && (canonical !== text || canonical.length > 15)) this.#edits.add(start, end, range.write(canonical))
    else if (quoted && canonical !== text) this.#edits.add(start, end, `"${canonical}"`)
    this.canonical = canonical
    return end
  }

  double(start: number): number {
    const b = this.#b
    const quoted = b[start] === QUOTE
    if (!quoted && b[start] !== MINUS && !isDigit(b[start])) throw new Fault(start, 'a number, "NaN", "Infinity" or "-Infinity"')
    const end = quoted ? closingQuote(b, start + 1, this.#edits) + 1 : numberEnd(b, start)
    if (!quoted && end - start < 25) {
      if (!hasExponent(b, start, end)) return end
    }
    const text = quoted ? this.decoded(start + 1, end - 1) : this.decoded(start, end)
    if (quoted && /^(?:NaN|-?Infinity)$/.test(text)) return end
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text)))
      throw new Fault(start, 'a number, "NaN", "Infinity" or "-Infinity"')
    return end
  }

  bool(p: number): number {
    const end = boolEnd(this.#b, p)
    if (end < 0) throw new Fault(p, 'true or false')
    return end
  }

  base64(p: number): number {
    if (this.#b[p] !== QUOTE) throw new Fault(p, 'a base64 string')
    const end = closingQuote(this.#b, p + 1, this.#edits)
    if (!isBase64(this.decoded(p + 1, end))) throw new Fault(p, 'a base64 string')
    return end + 1
  }
}

function hasExponent(b: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if ((b[p]! | 0x20) === 0x65) return true
  return false
}
