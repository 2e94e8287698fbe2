/** The severity of records, remembered by their texts. */
import { type Level, normaliseLevel, normaliseSeverityNumber } from '../../../../domain/records/level.ts'
import { type Piece, pieceOf } from './piece.ts'

/** The level that a severity text and number stand for, ready to be copied. */
export interface Severity {
  /** As it stands in the message. */
  readonly text: Uint8Array
  readonly level: Level
  /** With a leading comma. */
  readonly members: Piece
}

/** Texts remembered per severity number; logs use few. */
const MAX_TEXTS = 16
const MAX_NUMBER = 24

/** `level` and `severity_number` as JSON members, remembered by the record's severity text and number. */
export class SeverityMembers {
  readonly #byNumber: Severity[][] = Array.from({ length: MAX_NUMBER + 1 }, () => [])

  /** The text is ASCII without escapes. */
  of(b: Buffer, textStart: number, textEnd: number, number: number): Severity {
    const severities = this.#byNumber[number <= MAX_NUMBER ? number : 0]!
    for (let k = 0; k < severities.length; k++) {
      const severity = severities[k]!
      const { text } = severity
      if (text.length !== textEnd - textStart) continue
      let i = 0
      while (i < text.length && text[i] === b[textStart + i]) i++
      if (i === text.length) return severity
    }
    const level = normaliseLevel(b.toString('latin1', textStart, textEnd), number)
    const members = pieceOf(`,"level":"${level}","severity_number":${normaliseSeverityNumber(number, level)}`)
    const severity = { text: Uint8Array.from(b.subarray(textStart, textEnd)), level, members }
    if (severities.length === MAX_TEXTS) severities.shift()
    severities.push(severity)
    return severity
  }
}
