import { BACKSLASH, COLON, QUOTE } from './bytes.ts'

/** Whether the objects of JSON have more than `max` names together. Looks at colons outside strings only, takes any bytes, and stops where the answer is known. */
export function hasMoreNamesThan(json: Uint8Array, max: number): boolean {
  let names = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (isInString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) isInString = true
    else if (byte === COLON && ++names > max) return true
  }
  return false
}
