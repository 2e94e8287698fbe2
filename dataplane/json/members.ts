const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92

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
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at
      depth--
    } else if (code === COMMA && depth === 0) return at
    at++
  }
  return at
}

const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
