/** How many names and values JSON has, known before anything is parsed: the marks outside strings are counted. All take any bytes. */
import { COLON, COMMA, NOWHERE, QUOTE, stringEnd } from './bytes.ts'

/** Whether the objects of JSON have more than `max` names together. */
export function hasMoreNamesThan(json: Uint8Array, max: number): boolean {
  return hasMoreMarks(json, COLON, max)
}

/** Whether lists and objects hold more than `max` values, those that hold values themselves not counted. */
export function hasMoreValues(json: Uint8Array, max: number): boolean {
  return hasMoreMarks(json, COMMA, max - 1)
}

/** Stops where the answer is known. */
function hasMoreMarks(json: Uint8Array, mark: number, max: number): boolean {
  let marks = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (end === NOWHERE) return false
      at = end - 1
    } else if (byte === mark && ++marks > max) return true
  }
  return false
}
