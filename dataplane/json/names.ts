import { COLON, NOWHERE, QUOTE, stringEnd } from './bytes.ts'

/** Whether the objects of JSON have more than `max` names together. Looks at colons outside strings only, takes any bytes, and stops where the answer is known. */
export function hasMoreNamesThan(json: Uint8Array, max: number): boolean {
  let names = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (end === NOWHERE) return false
      at = end - 1
    } else if (byte === COLON && ++names > max) return true
  }
  return false
}
