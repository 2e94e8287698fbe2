import { Buffer } from 'node:buffer'
import { CLOSE_OBJECT, COMMA, closingQuote, MAX_REQUEST_LEVELS, OPEN_LIST, skipSpace, valueEnd } from './json-lexer.ts'
import { type Edit, EditList } from './layout.ts'

const NOWHERE = -1
const ATTRIBUTES = 'attributes'

/**
 * The edit that adds an attribute to the log record between two positions, as the last of its list: there it wins against the same key inside
 * a map. `attribute` is a KeyValue in JSON, in ASCII. Edits made before at the same place must come first.
 */
export function addedAttribute(text: Uint8Array, start: number, end: number, attribute: string): Edit {
  const list = lastAttributes(text, start)
  if (list === NOWHERE) return { start: end - 1, end: end - 1, text: `,"${ATTRIBUTES}":[${attribute}]` }
  const close = valueEnd(text, list, new EditList(), MAX_REQUEST_LEVELS) - 1
  const isEmpty = skipSpace(text, list + 1) === close
  return { start: close, end: close, text: isEmpty ? attribute : `,${attribute}` }
}

/** Where the list of attributes opens that counts, the last one of the record. */
function lastAttributes(b: Uint8Array, open: number): number {
  const edits = new EditList()
  let found = NOWHERE
  let p = skipSpace(b, open + 1)
  while (b[p] !== CLOSE_OBJECT) {
    const nameEnd = closingQuote(b, p + 1, edits)
    const value = skipSpace(b, skipSpace(b, nameEnd + 1) + 1)
    if (b[value] === OPEN_LIST && isAttributes(b, p + 1, nameEnd)) found = value
    p = skipSpace(b, valueEnd(b, value, edits, MAX_REQUEST_LEVELS))
    if (b[p] === COMMA) p = skipSpace(b, p + 1)
  }
  return found
}

/** Each letter may be an escape of six. */
function isAttributes(b: Uint8Array, start: number, end: number): boolean {
  if (end - start > 6 * ATTRIBUTES.length) return false
  const name = Buffer.from(b.buffer, b.byteOffset + start, end - start).toString('latin1')
  return name === ATTRIBUTES || (name.includes('\\') && JSON.parse(`"${name}"`) === ATTRIBUTES)
}
