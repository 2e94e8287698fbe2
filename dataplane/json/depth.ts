/**
 * How many levels of objects and lists JSON may have at each entrance, and why so many. A reader that calls itself needs stack for each level, and a
 * parsed level takes far more memory than its two bytes: depth is therefore known before anything is parsed. `docs/bounds.md` has the same numbers.
 */
import { CLOSE_LIST, CLOSE_OBJECT, NOWHERE, OPEN_LIST, OPEN_OBJECT, QUOTE, stringEnd } from './bytes.ts'

/** Levels of lists and maps in an OTLP value: far more than any logger writes, and few enough for every reader behind the collector to call itself for each. */
export const MAX_VALUE_DEPTH = 100
/** Inside a field that OTLP does not know: nobody reads it, it is checked and passed on. */
export const MAX_UNKNOWN_DEPTH = 100
/** Levels of a whole OTLP request. A value has up to four a level (`kvlistValue`, its list, an entry, its value), and more levels lie around and inside it. */
export const MAX_REQUEST_LEVELS = 4 * MAX_VALUE_DEPTH + MAX_UNKNOWN_DEPTH + 20
/** Levels of the body of a control request (Decisions 7): configuration and ids need a handful. */
export const MAX_CONTROL_DEPTH = 100
/** Levels of the body of a search request, whose clauses are counted apart (`MAX_QUERY_DEPTH`): each clause may take several levels. */
export const MAX_SEARCH_BODY_DEPTH = 1000
/** Levels of a document that is parsed at all, be it to say where it is too deep. */
export const MAX_PARSED_DEPTH = 1000
/** Levels of a document that is indexed: twice those of an OTLP value, so that every accepted record fits with all that is around it. */
export const MAX_DOCUMENT_DEPTH = 200

/** Whether JSON is nested deeper than `max`. Looks at brackets outside strings only, takes any bytes, and stops where the answer is known. */
export function isDeeperThan(json: Uint8Array, max: number): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (end === NOWHERE) return false
      at = end - 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > max) return true
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--
  }
  return false
}
