/** Builds the documents of the daily indices: logs, and the flags of anomalies on them. */
import { LOGS_PREFIX } from '../../contract/indices.ts'
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import {
  type AnomalyFlags,
  buildDocument,
  documentTail,
  foldDocument,
  NO_ANOMALY,
  placeAttributes,
} from '../../domain/documents/document.ts'
import { splitMembers } from '../../json/text-members.ts'
import type { BulkOperation } from '../../ports/search-store.ts'
import { decodeAnomalyEvent } from '../anomaly-event.ts'
import { allocateBytes } from '../byte-slab.ts'
import { asBuffer, DOCUMENT_ID_AT, DOCUMENT_ID_END, decodeFlatRecord } from '../flat-record-layout.ts'
import type { FlatRow } from '../flat-row.ts'
import type { Outcome, StepInput } from '../outcome.ts'
import { documentSize, flagBytes, idOf, type LaidOut, laidOut, tailStartOf, writeOwnFields, writeTail } from './document-bytes.ts'
import { type DocumentHome, DocumentHomes, type Home } from './document-homes.ts'
import { KnownTails } from './known-tails.ts'

export interface LogDocument {
  readonly tenant: string
  /** Into the daily index. */
  readonly operation: BulkOperation
}

/** Takes documents one by one, written into its memory. */
export interface DocumentPacker {
  readonly bytes: Buffer
  /** Begins a document whose id stands in `source`; the place where it is to be written. */
  begin(index: string, source: Buffer, idStart: number, idEnd: number): number
  end(at: number): void
}

export interface DocumentBuilder {
  /** Bulk `create` of the log document of one record of `enriched-logs`; `flags` where its anomaly is known by then. */
  log(input: StepInput, flags?: AnomalyFlags): Outcome<LogDocument>
  /**
   * Writes the log document of a row behind those in `packer`; undefined where it has no room there, or the row has to be built by `log`: the packer
   * is of no more use then.
   */
  pack(row: FlatRow, flags: AnomalyFlags, packer: DocumentPacker): DocumentHome | undefined
  /** Bulk `update` of the log document with the anomaly flags, for one record of `anomaly-events`; the full document is the upsert. */
  flags(input: StepInput): Outcome<LogDocument>
  /**
   * The same operation with all custom attributes in `attributes`, for when the search store refused it (Decisions 8). Further documents have no name that
   * the reason shows to be in the index otherwise.
   */
  fold(operation: BulkOperation, reason?: string): BulkOperation
}

const UNREADABLE_RECORD = {
  kind: 'deadLetter',
  reason: 'flat record: not JSON, or a canonical field is missing or not what it has to be',
} as const
const UNREADABLE_EVENT = { kind: 'deadLetter', reason: 'anomaly event: not JSON, or a field or its flat record is missing' } as const

interface BuiltDocument extends DocumentHome {
  readonly id: string
  readonly body: Uint8Array | string
}

/**
 * Builds the documents of the search store. `allocate` gives the memory of each.
 */
export function createDocumentBuilder(allocate: (sizeBytes: number) => Buffer = allocateBytes): DocumentBuilder {
  const homes = new DocumentHomes()
  /** Where the attributes of a record stand in its document, by day and tenant, where some key is not admitted. */
  const placed = new KnownTails()
  /** Folded forms of documents that the search store refused, by index: it would refuse the same values again. */
  const folded = new KnownTails()

  const build = (input: StepInput, flags: AnomalyFlags): BuiltDocument | undefined => {
    const record = laidOut(input)
    const home = record && homes.of(input.key, record)
    if (record === undefined || home === undefined) return buildFromJson(input.value, flags)
    const { tenant, index } = home
    const flagMembers = flagBytes(flags)
    const tail = tailOf(home, record)
    const size = documentSize(record, flagMembers, tail)
    const body = tail === undefined ? allocate(size) : Buffer.allocUnsafe(size)
    const tailStart = writeOwnFields(record, flagMembers, body, 0)
    writeTail(record, tail, body, tailStart)
    const known = folded.find(index, body.subarray(tailStart))
    return { tenant, index, id: idOf(record), body: known === undefined ? body : Buffer.concat([body.subarray(0, tailStart), known]) }
  }

  /** Behind the own fields of the document, where that is not the attributes as they stand in the record. */
  const tailOf = (home: Home, record: LaidOut): Buffer | undefined => {
    return home.keySets.has(record.layout.keySet) ? undefined : placedTail(home, record)
  }

  /** A function of its own: what its closure holds would be allocated for each record. */
  const placedTail = (home: Home, record: LaidOut): Buffer | undefined => {
    const { bytes, start, end, layout } = record
    const { day, tenant } = home
    const attributes = bytes.subarray(start + layout.attributesStart, end - 2)
    const scope = `${day}/${tenant}`
    const known = placed.find(scope, attributes)
    if (known !== undefined || homes.admitAll(home, record)) return known
    const tail = Buffer.from(documentTail(placeAttributes(splitMembers(`{${attributes}}`), path => homes.admit(tenant, day, path))))
    placed.remember(scope, attributes, tail)
    return tail
  }

  const buildFromJson = (value: Uint8Array, flags: AnomalyFlags): BuiltDocument | undefined => {
    const decoded = decodeFlatRecord(value)
    if (decoded === undefined) return undefined
    const { canonical, attributes } = decoded
    const { document_id: id, index_day: day, tenant_id: tenant } = canonical
    const placed = placeAttributes(attributes, path => homes.admit(tenant, day, path))
    return { tenant, index: LOGS_PREFIX + day, id, body: buildDocument(canonical, placed, flags) }
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
      const { tenant, index, id, body } = built
      return { kind: 'emit', value: { tenant, operation: { action: 'create', index, id, body, idTellsTime: true } } }
    },
    pack(row, flags, packer) {
      const home = homes.of(row.key, row)
      if (home === undefined) return undefined
      const { bytes } = packer
      const flagMembers = flagBytes(flags)
      const tail = tailOf(home, row)
      const from = packer.begin(home.index, row.bytes, row.start + DOCUMENT_ID_AT, row.start + DOCUMENT_ID_END)
      if (from + documentSize(row, flagMembers, tail) > bytes.length) return undefined
      const tailStart = writeOwnFields(row, flagMembers, bytes, from)
      let end = writeTail(row, tail, bytes, tailStart)
      const known = folded.isEmpty ? undefined : folded.find(home.index, bytes.subarray(tailStart, end))
      if (known !== undefined) {
        if (known.length > bytes.length - tailStart) return undefined
        end = tailStart + known.copy(bytes, tailStart)
      }
      packer.end(end)
      return home
    },
    flags(input) {
      const event = decodeAnomalyEvent(input)
      const flags = event && flagsOf(event.anomaly)
      const built = event && flags && build(event.record, flags)
      if (built === undefined) return UNREADABLE_EVENT
      const { tenant, index, id, body: upsert } = built
      const operation = { action: 'update', index, id, body: JSON.stringify(flags), upsert, idTellsTime: true } as const
      return { kind: 'emit', value: { tenant, operation } }
    },
    fold({ upsert, ...operation }, reason = '') {
      // Attributes were placed without the new name.
      if (homes.learn(operation.index, reason)) placed.clear()
      if (operation.action === 'update') return { ...operation, ...(upsert !== undefined && { upsert: foldBody(operation.index, upsert) }) }
      return { ...operation, body: foldBody(operation.index, operation.body) }
    },
  }
}

/** The flags that an anomaly's log document carries. */
export function flagsOf({ anomaly_score, score }: Pick<Anomaly, 'anomaly_score' | 'score'>): AnomalyFlags {
  return { anomaly_score: anomaly_score ?? 0, rule_score: score, is_anomaly: true }
}
