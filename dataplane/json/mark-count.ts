/** How many values JSON has, known before anything is parsed. */
import { COMMA, NOWHERE, QUOTE, stringEnd } from './bytes.ts'

/** Whether lists and objects hold more than `max` values, those that hold values themselves not counted. Takes any bytes. */
export function hasMoreValues(json: Uint8Array, max: number): boolean {
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (end === NOWHERE) return false
      at = end - 1
    } else if (byte === COMMA && ++values > max) return true
  }
  return false
}
