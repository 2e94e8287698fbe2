import { endOfString } from '../../json/text-members.ts'

/** UTF-16 units, at most 24,000 bytes: with its path before it, far from the 32,766 bytes of a term. */
const MAX_TEXT = 8_000
/** Bytes of a piece. */
export const MAX_PIECE_BYTES = 3 * MAX_TEXT

/**
 * A JSON value whose long texts are lists of their pieces. OpenSearch refuses a document with a text of more than 32,766 bytes in a
 * `flat_object`, which has no `ignore_above`. `json` has no white space outside strings.
 */
export function splitLongTexts(json: string): string {
  if (json.length <= MAX_TEXT) return json
  let text = ''
  let copied = 0
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = endOfString(json, at)
    if (end - at > MAX_TEXT && json[end] !== ':') {
      const pieces = piecesOf(JSON.parse(json.slice(at, end)) as string)
      const inList = json[at - 1] === '[' || json[at - 1] === ','
      text += json.slice(copied, at) + (inList || pieces.length === 1 ? pieces.join(',') : `[${pieces.join(',')}]`)
      copied = end
    }
    at = json.indexOf('"', end)
  }
  return text + json.slice(copied)
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + MAX_TEXT, text.length)
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--
    pieces.push(JSON.stringify(text.slice(at, end)))
    at = end
  }
  return pieces
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff
}
