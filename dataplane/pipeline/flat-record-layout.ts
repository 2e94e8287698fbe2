/**
 * How a flat record stands on `enriched-logs`: one JSON object, first the canonical fields in fixed order, then the attributes with
 * flattened keys, last `attributes` with the original keys, those that fit a document's top level before the others.
 * The `layout` header says where each part lies, so that a reader can parse the first alone, and build the document by copying.
 * A reader without the header, or with one that does not fit, parses the whole.
 */

import { KEY_SET_LENGTH, keySetId } from '../domain/documents/custom-keys.ts'
import { jsonMembers } from '../domain/documents/document.ts'
import { isCanonicalName, isTopLevelKey } from '../domain/documents/field-names.ts'
import { holdsObjects } from '../domain/documents/field-paths.ts'
import type { MlFeatures } from '../domain/features/enrichment.ts'
import { completeRecord } from '../domain/records/complete-record.ts'
import type { FlattenedRecord } from '../domain/records/flat-record.ts'
import type { FlatRecord } from '../domain/records/flat-record-fields.ts'
import { isFlatRecord } from '../domain/records/flat-record-form.ts'
import { type FlatAttributes, flattenKey } from '../domain/records/flatten.ts'
import type { Level } from '../domain/records/level.ts'
import { tenantOfKey } from '../domain/tenants/tenant.ts'
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT, ZERO } from '../json/bytes.ts'
import { isJsonObject } from '../json/is-json-object.ts'
import { jsonOf } from '../json/json-of.ts'
import { splitMembers } from '../json/text-members.ts'
import { encodeText } from './byte-slab.ts'

export const LAYOUT_HEADER = 'layout'

/**
 * Largest flat record, in bytes: more than a message of `raw-logs`, less than what a Kafka broker takes by default (1 MiB). A record that
 * would be larger goes without the flattened copies of its attributes; they stay under `attributes`.
 */
export const MAX_FLAT_RECORD_BYTES = 940 * 1024

/** Byte offsets into the JSON text of a flat record. */
export interface Layout {
  /** After the last canonical value. */
  readonly canonicalEnd: number
  /** After the opening brace of `attributes`. */
  readonly attributesStart: number
  /** After the last attribute that fits the top level of a document; `attributesStart` when there is none. */
  readonly topLevelEnd: number
  /** Names the set of top-level keys: equal for records with equal keys. Empty where the keys alone do not tell the fields. */
  readonly keySet: string
}

/** A flat record in bytes that its writer may use again for the next one. */
export interface EncodedRecord {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  /** Offsets from `start`. */
  readonly layout: Layout
  /** Where the writer knows them. */
  readonly known?: KnownFields | undefined
}

/** The fields that scoring and signals need, as the writer of a record has them at hand: nobody need look for them in its bytes. */
export interface KnownFields {
  /** As in `@timestamp`, ms since the epoch. */
  readonly timeMs: number
  readonly level: Level
  readonly features: MlFeatures
  /** The text between the quotes, from the start of the record. */
  readonly messageStart: number
  readonly messageEnd: number
  /** False: no pattern boost of scoring counts for the message, which nobody need read for it. */
  readonly isTelling: boolean
  readonly pattern: KnownPattern
  /** Hash of trace and span, see `visitHash`. */
  readonly visitHash: number
}

/** One object for all records of a pattern. */
export interface KnownPattern {
  /** Hash of the pattern id. */
  readonly hash: number
  /** As it stands in JSON, its bytes as latin1. */
  readonly text: string
}

/** The parts of a flat record as JSON text; `encodeParts` joins them. */
interface FlatRecordParts {
  /** The canonical fields with their opening brace, without the closing one. */
  readonly canonical: string
  /** Members with flattened keys, each with a leading comma. */
  readonly flattened: string
  /** Members of `attributes` that fit the top level of a document, and the others. */
  readonly topLevel: string
  readonly folded: string
  readonly keySet: string
}

export function encodeFlatRecord({ canonical, attributes }: FlattenedRecord): EncodedRecord {
  const topLevel = new Map<string, string>()
  const folded = new Map<string, string>()
  for (const [key, json] of attributes) (isTopLevelKey(key) ? topLevel : folded).set(key, json)
  const hasObjects = [...topLevel.values()].some(holdsObjects)
  return encodeParts({
    canonical: JSON.stringify(canonical).slice(0, -1),
    flattened: flattenedMembers(attributes),
    topLevel: jsonMembers(topLevel),
    folded: jsonMembers(folded),
    keySet: hasObjects ? '' : keySetId([...topLevel.keys()]),
  })
}

/** Attributes under their flattened keys, the last wins; none may pose as a canonical field. */
function flattenedMembers(attributes: FlatAttributes): string {
  const flattened = new Map<string, string>()
  for (const [key, json] of attributes) {
    const name = flattenKey(key)
    if (!isCanonicalName(name)) flattened.set(name, json)
  }
  const members = jsonMembers(flattened)
  return members === '' ? '' : `,${members}`
}

const ATTRIBUTES_OPEN = ',"attributes":{'

function encodeParts({ canonical, flattened, topLevel, folded, keySet }: FlatRecordParts): EncodedRecord {
  const both = topLevel !== '' && folded !== '' ? ',' : ''
  const text = `${canonical}${flattened}${ATTRIBUTES_OPEN}${topLevel}${both}${folded}}}`
  const value = encodeText(text)
  if (value.length > MAX_FLAT_RECORD_BYTES && flattened !== '') return encodeParts({ canonical, flattened: '', topLevel, folded, keySet })
  const isAscii = value.length === text.length
  const bytes = (part: string) => (isAscii ? part.length : Buffer.byteLength(part))
  const canonicalEnd = bytes(canonical)
  const attributesStart = canonicalEnd + bytes(flattened) + ATTRIBUTES_OPEN.length
  const layout = { canonicalEnd, attributesStart, topLevelEnd: attributesStart + bytes(topLevel), keySet }
  return { bytes: value, start: 0, end: value.length, layout }
}

const LAYOUT_VERSION = '1;'

/** The layout as the header states it. */
export function layoutText({ canonicalEnd, attributesStart, topLevelEnd, keySet }: Layout): string {
  return `${LAYOUT_VERSION}${canonicalEnd};${attributesStart};${topLevelEnd};${keySet}`
}
const SEMICOLON = 59

/** The layout that a header states; undefined when there is none or it does not fit the bytes. */
export function parseLayout(header: string | undefined, value: Uint8Array): Layout | undefined {
  if (header === undefined || !header.startsWith(LAYOUT_VERSION)) return undefined
  headerAt = LAYOUT_VERSION.length
  const canonicalEnd = nextOffset(header)
  const attributesStart = nextOffset(header)
  const topLevelEnd = nextOffset(header)
  const keySet = header.slice(headerAt)
  const layout = { canonicalEnd, attributesStart, topLevelEnd, keySet }
  return (keySet === '' || keySet.length === KEY_SET_LENGTH) && fits(layout, value) ? layout : undefined
}

/** Where in the header the next offset stands. */
let headerAt = 0

/** No number when the header has none there. */
function nextOffset(header: string): number {
  let offset = 0
  let at = headerAt
  for (; at < header.length && header.charCodeAt(at) !== SEMICOLON; at++) offset = offset * 10 + header.charCodeAt(at) - ZERO
  headerAt = at + 1
  return offset
}

/** Whether every offset lies where the text has the mark that must be there; false for what is no offset. */
function fits({ canonicalEnd, attributesStart, topLevelEnd }: Layout, value: Uint8Array): boolean {
  const last = value.length - 1
  return (
    canonicalEnd < attributesStart &&
    attributesStart <= topLevelEnd &&
    topLevelEnd < last &&
    value[canonicalEnd] === COMMA &&
    value[attributesStart - 1] === OPEN_OBJECT &&
    (value[topLevelEnd] === CLOSE_OBJECT || value[topLevelEnd] === COMMA || topLevelEnd === attributesStart) &&
    value[last] === CLOSE_OBJECT &&
    value[last - 1] === CLOSE_OBJECT
  )
}

/** The part of a layout that the document builder needs before it reads the text. */
export interface RecordHead {
  readonly documentId: string
  /** `YYYY.MM.dd` */
  readonly day: string
  readonly tenant: string
}

/** Every flat record starts like this, the values having fixed lengths. */
export const HEAD_MARKS = [
  { at: 0, text: '{"document_id":"' },
  { at: 52, text: '","index_day":"' },
  { at: 77, text: '","@timestamp":' },
] as const
/** The value of `@timestamp` begins behind it. */
export const HEAD_LENGTH = 92
export const DOCUMENT_ID_AT = 16
export const DOCUMENT_ID_END = 52
const DAY_AT = 67
const DAY_END = 77

/** The head of a flat record; undefined when it starts otherwise. `key` is the bus key, `<tenant>/<service>`. */
export function readHead(key: string, bytes: Buffer, start = 0): RecordHead | undefined {
  const head = bytes.toString('latin1', start, start + HEAD_LENGTH)
  const tenant = cachedTenantOf(key)
  for (const { at, text } of HEAD_MARKS) if (!head.startsWith(text, at)) return undefined
  if (tenant === undefined) return undefined
  return { documentId: head.slice(DOCUMENT_ID_AT, DOCUMENT_ID_END), day: head.slice(DAY_AT, DAY_END), tenant }
}

/** Whether a record starts as flat records do, with this day. `isFlat`: of its beginning nothing but the day is in question. */
export function startsWithDay(bytes: Buffer, start: number, day: string, isFlat: boolean): boolean {
  if (!isFlat)
    for (const { at, text } of HEAD_MARKS)
      for (let i = 0; i < text.length; i++) if (bytes[start + at + i] !== text.charCodeAt(i)) return false
  for (let i = 0; i < day.length; i++) if (bytes[start + DAY_AT + i] !== day.charCodeAt(i)) return false
  return true
}

/** Neighbours on the bus often share their key: the last one and its tenant. */
let lastKey = ''
let lastTenant: string | undefined

function cachedTenantOf(key: string): string | undefined {
  if (key !== lastKey) {
    lastTenant = tenantOfKey(key)
    lastKey = key
  }
  return lastTenant
}

/** A record of the bus as a view onto its bytes. */
export function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** A flat record taken apart: its canonical fields, and its attributes as JSON text under their original keys. */
export interface DecodedRecord {
  readonly canonical: FlatRecord
  readonly attributes: FlatAttributes
}

/** The canonical fields alone, from the first part of the record when the layout is known; undefined when it cannot be read. */
export function decodeCanonical(value: Uint8Array, layout: Layout | undefined): FlatRecord | undefined {
  if (layout === undefined) return decodeFlatRecord(value)?.canonical
  const record = parseObject(`${asBuffer(value).toString('utf8', 0, layout.canonicalEnd)}}`)
  return record !== undefined && isFlatRecord(record) ? (record as unknown as FlatRecord) : undefined
}

/** The whole record, of any writer; undefined when it cannot be read. */
export function decodeFlatRecord(value: Uint8Array): DecodedRecord | undefined {
  const text = asBuffer(value).toString()
  const parsed = parseObject(text)
  const record = parsed && (isFlatRecord(parsed) ? parsed : completeRecord(parsed))
  if (record === undefined) return undefined
  const canonical = Object.fromEntries(Object.entries(record).filter(([name]) => name !== 'attributes' && isCanonicalName(name)))
  return { canonical: canonical as unknown as FlatRecord, attributes: attributesOf(splitMembers(compact(text))) }
}

/** By their original keys; of a writer that gives none, by the flattened ones. */
function attributesOf(members: ReadonlyMap<string, string>): FlatAttributes {
  const attributes = members.get('attributes')
  if (attributes === undefined) return new Map([...members].filter(([name]) => !isCanonicalName(name)))
  return attributes.startsWith('{') ? splitMembers(attributes) : new Map()
}

/** JSON text as `JSON.stringify` writes it; ours is already, and is left alone, so that no number loses digits. */
function compact(text: string): string {
  return /^\{"[^"\\]*":[^\s]/.test(text) && text.endsWith('}') ? text : JSON.stringify(JSON.parse(text))
}

/** Undefined when the text is no JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonOf(text)
  return isJsonObject(value) ? value : undefined
}
