import { hash } from 'node:crypto'
import { fieldPaths, holdsObjects } from './field-paths.ts'
import { isHighSurrogate, MAX_PIECE_BYTES, splitLongTexts } from './long-texts.ts'

/** Bytes of a term. A `flat_object` makes one of its own name (twice), the path below it and a value; OpenSearch refuses longer ones. */
const MAX_TERM_BYTES = 32_766
const AROUND_PATH_BYTES = 'attributes.attributes.='.length
/** UTF-16 units of a cut key, and the hex digits that tell it from others. */
const SHOWN_LENGTH = 1_000
const DIGEST_LENGTH = 16

/**
 * The members of `attributes` that stand for one attribute in a folded document. A key that no term can hold is cut, with a digest of it behind;
 * its whole text stands beside, under the cut key and `.key`. A list whose objects have such keys becomes its JSON text.
 */
export function foldAttribute(key: string, json: string): readonly (readonly [string, string])[] {
  if (fits(key, json)) return [[key, splitLongTexts(json)]]
  const valueBytes = Math.min(Buffer.byteLength(json), MAX_PIECE_BYTES)
  const name = fitsAsPath(key, valueBytes) ? key : cut(key)
  const value = splitLongTexts(holdsObjects(json) && !fits(name, json) ? JSON.stringify(json) : json)
  return name === key
    ? [[key, value]]
    : [
        [name, value],
        [`${name}.key`, splitLongTexts(JSON.stringify(key))],
      ]
}

function fits(key: string, json: string): boolean {
  // The objects' keys are part of the text.
  if (fitsAsPath(key, 3 * json.length)) return true
  const valueBytes = Math.min(Buffer.byteLength(json), MAX_PIECE_BYTES)
  return fieldPaths(key, json).every(path => fitsAsPath(path, valueBytes))
}

function fitsAsPath(path: string, valueBytes: number): boolean {
  return AROUND_PATH_BYTES + Buffer.byteLength(path) + valueBytes <= MAX_TERM_BYTES
}

function cut(key: string): string {
  const end = isHighSurrogate(key.charCodeAt(SHOWN_LENGTH - 1)) ? SHOWN_LENGTH - 1 : SHOWN_LENGTH
  return `${key.slice(0, end)}~${hash('sha256', key, 'hex').slice(0, DIGEST_LENGTH)}`
}
