/** Deepest nesting that any entrance takes (Decisions 7). */
export const MAX_JSON_DEPTH = 100

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Whether JSON text nests deeper than `max`; looks at brackets outside strings only, and takes any text. */
export function isDeeperThan(json: string, max: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (inString) {
      if (code === BACKSLASH) i++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > max) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}
