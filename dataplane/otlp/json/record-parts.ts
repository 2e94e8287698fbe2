/** Finds the fields of one log record in OTLP JSON. */
import { Buffer } from 'node:buffer'
import { CLOSE_OBJECT, COMMA, hasEscape, skipSpace } from '../../json/bytes.ts'
import { MAX_REQUEST_LEVELS } from '../../json/depth.ts'
import { closingQuote, isNull, valueEnd } from '../../json/strict.ts'
import { type Edit, EditList } from '../layout.ts'

/** Where the value of a field starts and ends; empty where the record has none. */
export interface Part {
  readonly start: number
  readonly end: number
}

/** The parts of a log record that tell it from others of its time, and its attributes. */
export interface RecordParts {
  body: Part
  traceId: Part
  spanId: Part
  attributes: Part
}

const NO_PART: Part = { start: 0, end: 0 }
const PART_OF_NAME: ReadonlyMap<string, keyof RecordParts> = new Map([
  ['body', 'body'],
  ['traceId', 'traceId'],
  ['trace_id', 'traceId'],
  ['spanId', 'spanId'],
  ['span_id', 'spanId'],
  ['attributes', 'attributes'],
])
const LONGEST_NAME = 10
const BYTES_PER_ESCAPE = 6

/** The parts of an accepted record. Of a field given twice the last counts; null counts as absent. */
export function findRecordParts(text: Uint8Array, open: number): RecordParts {
  const edits = new EditList()
  const parts: RecordParts = { body: NO_PART, traceId: NO_PART, spanId: NO_PART, attributes: NO_PART }
  let p = skipSpace(text, open + 1)
  while (text[p] !== CLOSE_OBJECT) {
    const nameEnd = closingQuote(text, p + 1, edits)
    const name = partAt(text, p + 1, nameEnd)
    const start = skipSpace(text, skipSpace(text, nameEnd + 1) + 1)
    const end = valueEnd(text, start, edits, MAX_REQUEST_LEVELS)
    if (name !== undefined && !isNull(text, start)) parts[name] = { start, end }
    p = skipSpace(text, end)
    if (text[p] === COMMA) p = skipSpace(text, p + 1)
  }
  return parts
}

function partAt(b: Uint8Array, start: number, end: number): keyof RecordParts | undefined {
  const length = end - start
  if (length > LONGEST_NAME && (length > LONGEST_NAME * BYTES_PER_ESCAPE || !hasEscape(b, start, end))) return undefined
  const name = Buffer.from(b.buffer, b.byteOffset + start, length).toString('latin1')
  return PART_OF_NAME.get(length > LONGEST_NAME || name.includes('\\') ? JSON.parse(`"${name}"`) : name)
}

/**
 * The edit that adds an attribute to the record between two positions, as the last of its list: there it wins against the same key inside
 * a map. `attribute` is a KeyValue in JSON, in ASCII. Edits made before at the same place must come first.
 */
export function addAttribute(text: Uint8Array, start: number, end: number, attribute: string): Edit {
  const { attributes } = findRecordParts(text, start)
  if (attributes === NO_PART) return { start: end - 1, end: end - 1, text: `,"attributes":[${attribute}]` }
  const close = attributes.end - 1
  const isEmpty = skipSpace(text, attributes.start + 1) === close
  return { start: close, end: close, text: isEmpty ? attribute : `,${attribute}` }
}
