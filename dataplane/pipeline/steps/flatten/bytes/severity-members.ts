import { normaliseLevel, normaliseSeverityNumber } from '../../../../domain/records/level.ts'

interface Severity {
  /** As it stands in the message. */
  readonly text: Uint8Array
  readonly members: Uint8Array
}

/** Texts remembered per severity number; logs use few. */
const MAX_TEXTS = 16
const MAX_NUMBER = 24

/** `level` and `severity_number` as JSON members, remembered by the record's severity text and number. */
export class SeverityMembers {
  readonly #byNumber: Severity[][] = Array.from({ length: MAX_NUMBER + 1 }, () => [])

  /** With a leading comma. The text is ASCII without escapes. */
  of(b: Buffer, textStart: number, textEnd: number, number: number): Uint8Array {
    const severities = this.#byNumber[number <= MAX_NUMBER ? number : 0]!
    for (const { text, members } of severities) {
      if (text.length !== textEnd - textStart) continue
      let i = 0
      while (i < text.length && text[i] === b[textStart + i]) i++
      if (i === text.length) return members
    }
    const members = build(b.toString('latin1', textStart, textEnd), number)
    if (severities.length === MAX_TEXTS) severities.shift()
    severities.push({ text: Uint8Array.from(b.subarray(textStart, textEnd)), members })
    return members
  }
}

function build(text: string, number: number): Uint8Array {
  const level = normaliseLevel(text, number)
  return Buffer.from(`,"level":"${level}","severity_number":${normaliseSeverityNumber(number, level)}`)
}
