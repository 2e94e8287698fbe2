/** The indexed log document (Spec: Indexed log document; Decisions 4 and 8). */
import { splitMembers } from '../../json/text-members.ts'
import { LATENCY_FIELDS } from '../features/service-features.ts'
import type { FlatRecord } from '../records/flat-record-fields.ts'
import type { FlatAttributes } from '../records/flatten.ts'
import { isCanonicalName, isTopLevelKey } from './field-names.ts'
import { fieldPaths } from './field-paths.ts'
import { foldAttribute } from './folded-attribute.ts'

/** Says whether a custom field may be a top-level one of its own for this tenant and day. */
export type AdmitPath = (path: string) => boolean

/** Attributes by where they stand in the document: as literal dotted top-level keys, or in the `attributes` field. */
export interface PlacedAttributes {
  readonly topLevel: FlatAttributes
  readonly folded: FlatAttributes
}

/** Fields that ML features are made of (Decisions 9). */
const DURATIONS: ReadonlySet<string> = new Set(LATENCY_FIELDS.map(({ field }) => field))
const NUMBER = /^("?)(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\1$/

/** Whether the value fits the field that the template has for it. */
function isDuration(key: string, json: string): boolean {
  return DURATIONS.has(key) && Number.isFinite(Number.parseFloat(NUMBER.exec(json)?.[2] ?? ''))
}

/** Spec: Indexed log document; Decisions 4. */
export function placeAttributes(attributes: FlatAttributes, admit: AdmitPath): PlacedAttributes {
  const topLevel = new Map<string, string>()
  const folded = new Map<string, string>()
  for (const [key, json] of attributes) {
    const fits = isDuration(key, json) || (isTopLevelKey(key) && fieldPaths(key, json).every(path => admit(path)))
    ;(fits ? topLevel : folded).set(key, json)
  }
  return { topLevel, folded }
}

/** Members of a JSON object, comma separated, without its braces. */
export function jsonMembers(attributes: FlatAttributes): string {
  let text = ''
  for (const [key, json] of attributes) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${json}`
  return text
}

/** The findings of the engines: in a plain log document nothing yet. */
export interface AnomalyFlags {
  /** Z-score; 0 when only the rules found it. */
  readonly anomaly_score: number
  readonly is_anomaly: boolean
  /** 0 to 1; of flagged documents alone. */
  readonly rule_score?: number
}

export const NO_ANOMALY: AnomalyFlags = { anomaly_score: 0, is_anomaly: false }

/** The indexed log document as JSON text. */
export function buildDocument(record: FlatRecord, placed: PlacedAttributes, flags: AnomalyFlags): string {
  const { document_id: _id, index_day: _day, '@timestamp': timestamp, ...rest } = record
  const canonical = JSON.stringify({ timestamp, ...rest, ...flags })
  return `${canonical.slice(0, -1)}${documentTail(placed)}`
}

/** The text behind the pipeline's own fields, with the closing brace. */
export function documentTail({ topLevel, folded }: PlacedAttributes): string {
  const custom = topLevel.size === 0 ? '' : `,${jsonMembers(topLevel)}`
  const attributes = folded.size === 0 ? '' : `,"attributes":{${jsonMembers(folded)}}`
  return `${custom}${attributes}}`
}

/** Canonical fields of the flat record that its document has not, or has under another name. */
const NOT_IN_DOCUMENT: ReadonlySet<string> = new Set(['@timestamp', 'index_day', 'document_id', 'attributes'])

/** Whether a field of the document is the pipeline's own. */
function isOwnField(name: string): boolean {
  return isCanonicalName(name) && !NOT_IN_DOCUMENT.has(name)
}

/**
 * A document of `buildDocument` with its custom attributes in `attributes`: what is tried when the search store refuses it as it is (Decisions 8).
 * Durations stay where they are, since another attribute is refused almost always. Folded once more, the document has none outside `attributes`.
 */
export function foldDocument(json: string): string {
  const own = new Map<string, string>()
  const durations = new Map<string, string>()
  const others = new Map<string, string>()
  const attributes = new Map<string, string>()
  for (const [key, value] of splitMembers(json)) {
    if (isOwnField(key)) own.set(key, value)
    else if (key === 'attributes') for (const [inner, innerValue] of splitMembers(value)) attributes.set(inner, innerValue)
    else (isDuration(key, value) ? durations : others).set(key, value)
  }
  const stays = others.size > 0
  const folded = new Map<string, string>()
  for (const [key, value] of [...(stays ? [] : durations), ...others, ...attributes])
    for (const [name, member] of foldAttribute(key, value)) folded.set(name, member)
  const tail = documentTail({ topLevel: stays ? durations : new Map(), folded })
  return `{${jsonMembers(own)}${tail}`
}
