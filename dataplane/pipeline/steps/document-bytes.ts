/** The bytes of a document, as they are put together from a flat record that says where its parts lie. */
import type { AnomalyFlags } from '../../domain/documents/document.ts'
import { asBuffer, DOCUMENT_ID_AT, DOCUMENT_ID_END, HEAD_LENGTH, LAYOUT_HEADER, parseLayout } from '../flat-record-layout.ts'
import { FlatRow } from '../flat-row.ts'
import type { StepInput } from '../outcome.ts'

const TIMESTAMP_OPEN = Buffer.from('{"timestamp":')
const ATTRIBUTES_OPEN = Buffer.from(',"attributes":{')
const NO_ANOMALY_MEMBERS = Buffer.from(',"anomaly_score":0,"is_anomaly":false')
const LAST_OWN_FIELD = ',"is_anomaly":'
const COMMA = 44
const LETTER_T = 116
const CLOSE_BRACE = 125

/** A flat record within bytes, as a row is one. */
export type LaidOut = Pick<FlatRow, 'bytes' | 'start' | 'end' | 'layout' | 'known'>

/** Undefined when the record says nothing of its layout, or something wrong. */
export function laidOut(input: StepInput): LaidOut | undefined {
  if (input instanceof FlatRow) return input
  const bytes = asBuffer(input.value)
  const layout = parseLayout(input.headers[LAYOUT_HEADER], bytes)
  return layout && { bytes, start: 0, end: bytes.length, layout, known: undefined }
}

export const idOf = ({ bytes, start }: LaidOut) => bytes.toString('latin1', start + DOCUMENT_ID_AT, start + DOCUMENT_ID_END)

export function flagBytes(flags: AnomalyFlags): Uint8Array {
  return flags.is_anomaly ? Buffer.from(`,${JSON.stringify(flags).slice(1, -1)}`) : NO_ANOMALY_MEMBERS
}

/** Behind the pipeline's own fields, the last of which these texts can stand for nowhere else: in a string their quotes would be escaped. */
export function tailStartOf(document: Buffer): number {
  const at = document.indexOf(LAST_OWN_FIELD) + LAST_OWN_FIELD.length
  return at + (document[at] === LETTER_T ? 'true' : 'false').length
}

export function documentSize(record: LaidOut, flagMembers: Uint8Array, tail: Buffer | undefined): number {
  const { start, end, layout } = record
  const { canonicalEnd, attributesStart, topLevelEnd } = layout
  const ownBytes = TIMESTAMP_OPEN.length + (canonicalEnd - HEAD_LENGTH) + flagMembers.length
  if (tail !== undefined) return ownBytes + tail.length
  const topLevelBytes = topLevelEnd > attributesStart ? 1 + topLevelEnd - attributesStart : 0
  const foldedBytes = end - 2 - start - foldedStart(record)
  return ownBytes + topLevelBytes + (foldedBytes > 0 ? ATTRIBUTES_OPEN.length + foldedBytes + 1 : 0) + 1
}

/** Copies the pipeline's own fields from the record, with the flags behind them; the end. */
export function writeOwnFields({ bytes, start, layout }: LaidOut, flagMembers: Uint8Array, body: Buffer, from: number): number {
  body.set(TIMESTAMP_OPEN, from)
  let at = from + TIMESTAMP_OPEN.length
  at += bytes.copy(body, at, start + HEAD_LENGTH, start + layout.canonicalEnd)
  body.set(flagMembers, at)
  return at + flagMembers.length
}

/**
 * Copies the attributes from the record, or the `tail` that stands for them; the end. With the own fields in front the document is that of
 * `buildDocument`, every custom key being admitted.
 */
export function writeTail(record: LaidOut, tail: Buffer | undefined, body: Buffer, from: number): number {
  if (tail !== undefined) return from + tail.copy(body, from)
  const { bytes, start, end, layout } = record
  const { attributesStart, topLevelEnd } = layout
  let at = from
  if (topLevelEnd > attributesStart) {
    body[at++] = COMMA
    at += bytes.copy(body, at, start + attributesStart, start + topLevelEnd)
  }
  const folded = start + foldedStart(record)
  if (end - 2 > folded) {
    body.set(ATTRIBUTES_OPEN, at)
    at += ATTRIBUTES_OPEN.length
    at += bytes.copy(body, at, folded, end - 2)
    body[at++] = CLOSE_BRACE
  }
  body[at++] = CLOSE_BRACE
  return at
}

/** The place of the attributes that stay under `attributes`, from the start of the record. */
function foldedStart({ bytes, start, layout: { attributesStart, topLevelEnd } }: LaidOut): number {
  return topLevelEnd > attributesStart && bytes[start + topLevelEnd] === COMMA ? topLevelEnd + 1 : topLevelEnd
}
