/** Works out what operations do to a table before anything is written. */

import { isJsonObject } from '../../../json/is-json-object.ts'
import { parseExact } from '../../json/exact-numbers.ts'
import { DocumentRejected } from '../../mapping/document-rejected.ts'
import type { FieldMapping } from '../../mapping/field-types.ts'
import type { MutableMapping } from '../../mapping/mapping.ts'
import { checkDocumentSize, parseDocumentText } from '../../mapping/parse-document.ts'
import type { Leaf } from '../../mapping/values.ts'
import type { WriteOp, WriteOutcome } from '../index-storage.ts'
import { rejectedWrite } from '../rejected-write.ts'
import { conflictOf } from '../write-conflict.ts'
import { mergeDocument } from './merge-document.ts'

export interface Entry {
  readonly id: string
  readonly seqNo: number
  readonly version: number
  readonly source: Uint8Array
}

/** Changes over a table that are not yet committed. */
export interface Stage {
  readonly changes: Map<string, Entry | undefined>
  nextSeqNo: number
}

export interface StageContext {
  readonly stage: Stage
  readonly mapping: MutableMapping
  current(id: string): Entry | undefined
  /** Version of a document that was deleted not long ago, so that versions do not start over. */
  deletedVersion(id: string): number
}

export function stageOperation(op: WriteOp, context: StageContext): WriteOutcome {
  const entry = context.current(op.id)
  const conflict = conflictOf(op, entry)
  if (conflict !== undefined) return { error: conflict }
  try {
    switch (op.action) {
      case 'delete':
        return stageDelete(op.id, entry, context)
      case 'update':
        return stageUpdate(op, entry, context)
      default:
        return stagePut(op.id, op.source, entry, context)
    }
  } catch (error) {
    if (error instanceof DocumentRejected) return rejectedWrite(error)
    throw error
  }
}

function stagePut(id: string, source: Uint8Array, entry: Entry | undefined, context: StageContext): WriteOutcome {
  checkDocumentSize(source)
  context.mapping.parse(source, refuseImmenseTerms)
  const seqNo = context.stage.nextSeqNo++
  const version = (entry?.version ?? context.deletedVersion(id)) + 1
  // A copy: the bytes may be a view into a large request body.
  context.stage.changes.set(id, { id, seqNo, version, source: Uint8Array.from(source) })
  return { result: entry === undefined ? 'created' : 'updated', seqNo, version }
}

/** Largest term in UTF-8 bytes, as in Lucene: longer ones would make searches slow. */
const MAX_TERM_BYTES = 32_766

function refuseImmenseTerms(path: string, mapping: FieldMapping, value: Leaf): void {
  if (typeof value !== 'string' || value.length * 3 <= MAX_TERM_BYTES) return
  for (const [name, { type, index, ignoreAbove = Number.POSITIVE_INFINITY }] of [
    ['', mapping] as const,
    ...Object.entries(mapping.fields ?? {}),
  ]) {
    if (type !== 'keyword' || index === false || value.length > ignoreAbove || Buffer.byteLength(value) <= MAX_TERM_BYTES) continue
    const field = name === '' ? path : `${path}.${name}`
    throw new DocumentRejected(
      `Document contains at least one immense term in field="${field.slice(0, 200)}" (whose UTF8 encoding is longer than ${MAX_TERM_BYTES})`,
      'illegal_argument_exception',
    )
  }
}

function stageDelete(id: string, entry: Entry | undefined, context: StageContext): WriteOutcome {
  const seqNo = context.stage.nextSeqNo++
  if (entry === undefined) return { result: 'not_found', seqNo, version: context.deletedVersion(id) + 1 }
  context.stage.changes.set(id, undefined)
  return { result: 'deleted', seqNo, version: entry.version + 1 }
}

function stageUpdate(op: Extract<WriteOp, { action: 'update' }>, entry: Entry | undefined, context: StageContext): WriteOutcome {
  if (entry === undefined) {
    if (op.upsert !== undefined) return stagePut(op.id, op.upsert, undefined, context)
    return { error: { type: 'document_missing_exception', reason: `[${op.id}]: document missing`, status: 404 } }
  }
  checkDocumentSize(op.partial)
  const stored = parseObject(entry.source)
  const merged = mergeDocument(stored, parseObject(op.partial))
  if (merged === stored && op.isWrittenUnchanged !== true) return { result: 'noop', seqNo: entry.seqNo, version: entry.version }
  return stagePut(op.id, Buffer.from(JSON.stringify(merged)), entry, context)
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  const value = parseDocumentText(bytes, parseExact)
  if (isJsonObject(value)) return value
  throw new DocumentRejected('failed to parse: document must be a JSON object')
}
