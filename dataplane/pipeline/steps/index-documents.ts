/** Builds the documents of the daily indices: logs, and the flags of anomalies on them. */
import { LOGS_PREFIX } from '../../contract/indices.ts'
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import { CustomKeys } from '../../domain/documents/custom-keys.ts'
import {
  type AnomalyFlags,
  buildDocument,
  documentTail,
  foldDocument,
  NO_ANOMALY,
  placeAttributes,
} from '../../domain/documents/document.ts'
import { fieldPaths } from '../../domain/documents/field-paths.ts'
import { splitMembers } from '../../json/text-members.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { BulkOperation } from '../../ports/search-store.ts'
import { decodeAnomalyEvent } from '../anomaly-event.ts'
import { allocateBytes } from '../byte-slab.ts'
import { asBuffer, decodeFlatRecord, LAYOUT_HEADER, type Layout, parseLayout, type RecordHead, readHead } from '../flat-record-layout.ts'
import { FlatRow } from '../flat-row.ts'
import type { Outcome, StepInput } from '../outcome.ts'
import { KnownTails } from './known-tails.ts'

export interface LogDocument {
  readonly tenant: string
  /** Into the daily index. */
  readonly operation: BulkOperation
}

export interface DocumentBuilder {
  /** Bulk `create` of the log document of one record of `enriched-logs`; `flags` where its anomaly is known by then. */
  log(input: StepInput, flags?: AnomalyFlags): Outcome<LogDocument>
  /** Bulk `update` of the log document with the anomaly flags, for one record of `anomaly-events`; the full document is the upsert. */
  flags(input: StepInput): Outcome<LogDocument>
  /** The same operation with all custom attributes in `attributes`, for when the search store refused it (Decisions 8). */
  fold(operation: BulkOperation): BulkOperation
}

const UNREADABLE_RECORD = { kind: 'deadLetter', reason: 'flat record: not JSON, or a canonical field is missing' } as const
const UNREADABLE_EVENT = { kind: 'deadLetter', reason: 'anomaly event: not JSON, or a field or its flat record is missing' } as const

/** Key sets remembered as admitted. */
const MAX_ADMITTED_SETS = 20_000

interface BuiltDocument {
  readonly head: RecordHead
  readonly body: Uint8Array | string
}

/**
 * Builds the documents of the search store; remembers which custom keys each tenant has in each daily index (Decisions 4). `allocate` gives the
 * memory of each document.
 */
export function createDocumentBuilder(allocate: (sizeBytes: number) => Buffer = allocateBytes): DocumentBuilder {
  const customKeys = new CustomKeys()
  /** Sets of custom keys that are admitted whole, by day, tenant and layout. */
  const admitted = new RecentIds(MAX_ADMITTED_SETS)
  /** Where the attributes of a record stand in its document, by day and tenant, where some key is not admitted. */
  const placed = new KnownTails()
  /** Folded forms of documents that the search store refused, by index: it would refuse the same values again. */
  const folded = new KnownTails()

  const admitAll = ({ tenant, day }: RecordHead, layout: Layout, value: Buffer): boolean => {
    if (layout.topLevelEnd === layout.attributesStart) return true
    const id = `${day}/${tenant}/${layout.keySet}`
    if (layout.keySet !== '' && admitted.has(id)) return true
    const members = splitMembers(`{${value.toString('utf8', layout.attributesStart, layout.topLevelEnd)}}`)
    for (const [key, json] of members) for (const path of fieldPaths(key, json)) if (!customKeys.admit(tenant, day, path)) return false
    if (layout.keySet !== '') admitted.add(id)
    return true
  }

  const build = (input: StepInput, flags: AnomalyFlags): BuiltDocument | undefined => {
    const { value } = input
    const layout = input instanceof FlatRow ? input.layout : parseLayout(input.headers[LAYOUT_HEADER], value)
    const head = layout && readHead(input.key, asBuffer(value))
    if (layout === undefined || head === undefined) return buildFromJson(value, flags)
    const record = { value: asBuffer(value), layout, head }
    const body = copyDocument(record, flags, tailOf(record), allocate)
    const tailStart = tailStartOf(body)
    const known = folded.find(LOGS_PREFIX + head.day, body.subarray(tailStart))
    return { head, body: known === undefined ? body : Buffer.concat([body.subarray(0, tailStart), known]) }
  }

  /** Behind the own fields of the document, where that is not the attributes as they stand in the record. */
  const tailOf = ({ value, layout, head }: FlatRecordBytes): Buffer | undefined => {
    const { day, tenant } = head
    if (layout.keySet !== '' && admitted.has(`${day}/${tenant}/${layout.keySet}`)) return undefined
    const attributes = value.subarray(layout.attributesStart, value.length - 2)
    const scope = `${day}/${tenant}`
    const known = placed.find(scope, attributes)
    if (known !== undefined || admitAll(head, layout, value)) return known
    const tail = Buffer.from(documentTail(placeAttributes(splitMembers(`{${attributes}}`), path => customKeys.admit(tenant, day, path))))
    placed.remember(scope, attributes, tail)
    return tail
  }

  const buildFromJson = (value: Uint8Array, flags: AnomalyFlags): BuiltDocument | undefined => {
    const decoded = decodeFlatRecord(value)
    if (decoded === undefined) return undefined
    const { canonical, attributes } = decoded
    const head: RecordHead = { documentId: canonical.document_id, day: canonical.index_day, tenant: canonical.tenant_id, timestampAt: 0 }
    const placed = placeAttributes(attributes, path => customKeys.admit(head.tenant, head.day, path))
    return { head, body: buildDocument(canonical, placed, flags) }
  }

  const foldBody = (index: string, document: Uint8Array | string): Buffer => {
    const body = typeof document === 'string' ? Buffer.from(document) : asBuffer(document)
    const start = tailStartOf(body)
    const known = folded.find(index, body.subarray(start))
    if (known !== undefined) return Buffer.concat([body.subarray(0, start), known])
    const whole = Buffer.from(foldDocument(body.toString()))
    folded.remember(index, body.subarray(start), whole.subarray(tailStartOf(whole)))
    return whole
  }

  return {
    log(input, flags = NO_ANOMALY) {
      const built = build(input, flags)
      if (built === undefined) return UNREADABLE_RECORD
      const { head, body } = built
      return {
        kind: 'emit',
        value: { tenant: head.tenant, operation: { action: 'create', index: LOGS_PREFIX + head.day, id: head.documentId, body } },
      }
    },
    flags(input) {
      const event = decodeAnomalyEvent(input)
      const flags = event && flagsOf(event.anomaly)
      const built = event && flags && build(event.record, flags)
      if (built === undefined) return UNREADABLE_EVENT
      const { head, body: upsert } = built
      return {
        kind: 'emit',
        value: {
          tenant: head.tenant,
          operation: { action: 'update', index: LOGS_PREFIX + head.day, id: head.documentId, body: JSON.stringify(flags), upsert },
        },
      }
    },
    fold({ upsert, ...operation }) {
      if (operation.action === 'update') return { ...operation, ...(upsert !== undefined && { upsert: foldBody(operation.index, upsert) }) }
      return { ...operation, body: foldBody(operation.index, operation.body) }
    },
  }
}

/** The flags that an anomaly's log document carries. */
export function flagsOf({ anomaly_score, score }: Pick<Anomaly, 'anomaly_score' | 'score'>): AnomalyFlags {
  return { anomaly_score: anomaly_score ?? 0, rule_score: score, is_anomaly: true }
}

const LAST_OWN_FIELD = ',"is_anomaly":'

/** Behind the pipeline's own fields, the last of which these texts can stand for nowhere else: in a string their quotes would be escaped. */
function tailStartOf(document: Buffer): number {
  const at = document.indexOf(LAST_OWN_FIELD) + LAST_OWN_FIELD.length
  return at + (document[at] === LETTER_T ? 'true' : 'false').length
}

interface FlatRecordBytes {
  readonly value: Buffer
  readonly layout: Layout
  readonly head: RecordHead
}

const ATTRIBUTES_OPEN = ',"attributes":{'

/**
 * The document by copying the parts of the flat record: equal to `buildDocument` of its fields when every custom key is admitted, or with the
 * `tail` that stands for its attributes then.
 */
function copyDocument(
  { value, layout, head }: FlatRecordBytes,
  flags: AnomalyFlags,
  tail: Buffer | undefined,
  allocate: (sizeBytes: number) => Buffer,
): Buffer {
  const { canonicalEnd, attributesStart, topLevelEnd } = layout
  const flagText = flags.is_anomaly ? `,${JSON.stringify(flags).slice(1, -1)}` : NO_ANOMALY_TEXT
  const ownBytes = TIMESTAMP_OPEN.length + (canonicalEnd - head.timestampAt) + flagText.length
  const hasTopLevel = topLevelEnd > attributesStart
  const foldedStart = hasTopLevel && value[topLevelEnd] === COMMA ? topLevelEnd + 1 : topLevelEnd
  const foldedEnd = value.length - 2
  const hasFolded = foldedEnd > foldedStart
  const attributesBytes =
    (hasTopLevel ? 1 + topLevelEnd - attributesStart : 0) + (hasFolded ? ATTRIBUTES_OPEN.length + foldedEnd - foldedStart + 1 : 0) + 1
  const size = ownBytes + (tail?.length ?? attributesBytes)
  const body = tail === undefined ? allocate(size) : Buffer.allocUnsafe(size)
  let at = body.write(TIMESTAMP_OPEN, 0, 'latin1')
  at += value.copy(body, at, head.timestampAt, canonicalEnd)
  at += body.write(flagText, at, 'latin1')
  if (tail !== undefined) {
    tail.copy(body, at)
    return body
  }
  if (hasTopLevel) {
    body[at++] = COMMA
    at += value.copy(body, at, attributesStart, topLevelEnd)
  }
  if (hasFolded) {
    at += body.write(ATTRIBUTES_OPEN, at, 'latin1')
    at += value.copy(body, at, foldedStart, foldedEnd)
    body[at++] = CLOSE_BRACE
  }
  body[at] = CLOSE_BRACE
  return body
}

const TIMESTAMP_OPEN = '{"timestamp":'
const NO_ANOMALY_TEXT = ',"anomaly_score":0,"is_anomaly":false'
const COMMA = 44
const LETTER_T = 116
const CLOSE_BRACE = 125
