/** Members of JSON objects in JavaScript strings, for texts that are needed as strings anyway. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from './bytes.ts'

/**
 * The members of a JSON object, each value as the text it has there, so that no number loses digits; duplicate keys: the last wins.
 * `json` must be the text of an object without white space outside strings, as `JSON.stringify` writes it.
 */
export function splitMembers(json: string): Map<string, string> {
  const members = new Map<string, string>()
  let at = 1
  while (at < json.length - 1) {
    const keyEnd = endOfString(json, at)
    const valueEnd = endOfValue(json, keyEnd + 1)
    members.set(JSON.parse(json.slice(at, keyEnd)) as string, json.slice(keyEnd + 1, valueEnd))
    at = valueEnd + 1
  }
  return members
}

/** After the closing quote of the string that starts at `from`. */
export function endOfString(json: string, from: number): number {
  let at = from + 1
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
  return json.length
}

/** At the comma or brace after the value that starts at `from`. */
function endOfValue(json: string, from: number): number {
  let depth = 0
  let at = from
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at)
      continue
    }
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth++
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (depth === 0) return at
      depth--
    } else if (code === COMMA && depth === 0) return at
    at++
  }
  return at
}
