/** Checks and stages the operations of one commit, in order. */

import { isJsonObject } from '../../../../json/is-json-object.ts'
import { parseExact } from '../../../json/exact-numbers.ts'
import { DocumentRejected } from '../../../mapping/document-rejected.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { checkDocumentSize, parseJson } from '../../../mapping/parse-document.ts'
import type { Turns } from '../../../turns.ts'
import { DamagedSegment } from '../../damaged-segment.ts'
import { mergeDocument } from '../../document-table/merge-document.ts'
import type { Creations, WriteOp, WriteOutcome } from '../../index-storage.ts'
import { rejectedWrite } from '../../rejected-write.ts'
import type { WalkedBlock, WalkedDocuments } from '../../walked-documents.ts'
import { conflictOf } from '../../write-conflict.ts'
import { type IdKey, idHash, idKeyOf, MAX_ID_BYTES, putUuid, UUID_BYTES } from '../format/document-id.ts'
import type { WalkedShare } from '../walked/walked-share.ts'
import type { DocumentWalker } from './document-walker.ts'
import { leadingTimestamp } from './leading-timestamp.ts'
import { patchJson } from './patch-json.ts'
import type { StagedDocuments } from './staged-documents.ts'

/** Numbers of a creation in `places`. */
const CREATION_ROW = 3

/** A document as the batch finds it: stored before, or staged by an earlier operation of the same batch. */
export interface CurrentDocument {
  readonly place: number
  readonly seqNo: number
  readonly version: number
  readonly idTellsTime: boolean
  source(): Uint8Array
}

/** The index, as a batch uses it. */
export interface BatchTarget {
  readonly mapping: MutableMapping
  readonly walker: DocumentWalker
  /** `timeMs`: of the document, where its id tells the time; NaN where it does not. */
  find(key: IdKey, timeMs: number): CurrentDocument | undefined
  /** Whether `find` may give a document for an id with this hash. */
  mayHold(hash: number, timeMs: number): boolean
  /** Lets `find` give the document that is staged next for the id with this hash, in place of `old`. */
  stage(hash: number, old: number): void
  /** Undefined where the documents have to be walked all the same. */
  openWalked(walked: WalkedDocuments): WalkedShare | undefined
  /** Lets `find` no longer give the document at this place. */
  bury(place: number): void
}

/** The operations of one commit, checked and staged in order; nothing of it counts before it is durable. */
export class WriteBatch {
  readonly outcomes: WriteOutcome[] = []
  readonly documents: StagedDocuments
  /** Per document. */
  readonly seqNos: number[] = []
  readonly versions: number[] = []
  /** Places that die with the batch. */
  readonly buried: number[] = []
  nextSeqNo: number
  /** No other document ever has the id of one of these at another time. */
  idsTellTimes = true
  readonly #target: BatchTarget
  readonly #turns: Turns
  /** The creations that are being added, as another thread has walked them. */
  #walked: WalkedShare | undefined
  #blocks: readonly WalkedBlock[] = []
  /** Number of the next block, and where its documents begin among those that are staged. */
  #block = 0
  #blockAt = 0

  /** `documents` are this batch's alone until it ends. */
  constructor(target: BatchTarget, documents: StagedDocuments, nextSeqNo: number, turns: Turns) {
    this.#target = target
    this.documents = documents
    documents.clear()
    this.#turns = turns
    this.nextSeqNo = nextSeqNo
    target.walker.events.clear()
  }

  /** A promise where the operation takes long: others run meanwhile, and the next operation is for later. */
  add(op: WriteOp): Promise<void> | undefined {
    const outcome = this.#run(op)
    if (outcome instanceof Promise) return outcome.then(settled => void this.outcomes.push(settled))
    this.outcomes.push(outcome)
    return undefined
  }

  /** To be called before the creations from `from` to `to` are added. */
  beginCreations({ walked }: Creations, from: number, to: number): void {
    this.#walked = walked && this.#target.openWalked(walked)
    const blocks = this.#walked === undefined ? [] : walked!.blocks
    this.#blocks = blocks.filter(each => each.from >= from && each.from + each.block.ref.docs <= to)
    this.#block = 0
  }

  /** To be called behind each of them, or behind the last one of several. A block of which each document was taken is taken, too. */
  endCreation(k: number): void {
    const next = this.#blocks[this.#block]
    if (next === undefined || k < next.from + next.block.ref.docs - 1) return
    this.#block++
    if (this.documents.rows.length === this.#blockAt + next.block.ref.docs) this.documents.addBlock(this.#blockAt, next.block)
  }

  /**
   * Adds the documents of a block that begins with creation `k`, as far as their ids are new; returns how many. The other ones are to be added one by one, and
   * all of them where the block or its content is not the work of another thread.
   */
  addBlock(creations: Creations, k: number): number {
    const next = this.#blocks[this.#block]
    const walked = this.#walked
    if (next?.from !== k || walked === undefined || !next.block.ref.areUuids) return 0
    const { ids, ref } = next.block
    if (!walked.areWhole(k, k + ref.docs)) return 0
    const { rows } = this.documents
    this.#blockAt = rows.length
    const count = this.#stageNew(creations, k, ids, ref.docs)
    rows.reserveId(UUID_BYTES * count)
    rows.ids.set(ids.subarray(0, UUID_BYTES * count), rows.idEnd)
    const { bytes, places } = creations
    for (let each = k; each < k + count; each++) {
      const at = CREATION_ROW * each
      rows.add(UUID_BYTES, true, bytes, places[at + 1]!, places[at + 2]!, walked.messageStart(each), walked.messageEnd(each))
      this.#number(1)
      this.outcomes.push(CREATED)
    }
    walked.addAll(k, k + count)
    if (count === ref.docs) this.endCreation(k + count - 1)
    return count
  }

  /** Lets documents be found by their ids until one of them may be there already, or is large; returns how many. */
  #stageNew({ bytes, places, idsTellTimes }: Creations, k: number, ids: Uint8Array, most: number): number {
    for (let count = 0; count < most; count++) {
      const at = CREATION_ROW * (k + count)
      const start = places[at + 1]!
      const end = places[at + 2]!
      const hash = idHash(ids, UUID_BYTES * count, UUID_BYTES * (count + 1))
      const timeMs = idsTellTimes === true ? leadingTimestamp(bytes, start, end) : Number.NaN
      if (end - start > MAX_PLAIN_BYTES || this.#target.mayHold(hash, timeMs)) return count
      this.#target.stage(hash, -1)
      if (Number.isNaN(timeMs)) this.idsTellTimes = false
    }
    return most
  }

  /** Adds one of many creations, and leaves no object behind where the id is a new UUID. */
  addCreation({ bytes, places, idsTellTimes }: Creations, k: number): Promise<void> | undefined {
    const idStart = places[CREATION_ROW * k]!
    const start = places[CREATION_ROW * k + 1]!
    const end = places[CREATION_ROW * k + 2]!
    const documents = this.documents.rows
    if (k === this.#blocks[this.#block]?.from) this.#blockAt = documents.length
    documents.reserveId(UUID_BYTES)
    const { ids, idEnd } = documents
    const isUuid = putUuid(bytes, idStart, start, ids, idEnd)
    const hash = isUuid ? idHash(ids, idEnd, idEnd + UUID_BYTES) : 0
    const timeMs = idsTellTimes === true ? leadingTimestamp(bytes, start, end) : Number.NaN
    const isNew = isUuid && !this.#target.mayHold(hash, timeMs)
    const outcome = isNew && end - start <= MAX_PLAIN_BYTES ? this.#createPlain(hash, bytes, start, end, k, timeMs) : undefined
    if (outcome === undefined)
      return this.add({
        action: 'create',
        id: bytes.toString('utf8', idStart, start),
        source: bytes.subarray(start, end),
        idTellsTime: !Number.isNaN(timeMs),
      })
    this.outcomes.push(outcome)
    return undefined
  }

  /** Creates the document under the id that was put behind the last one; undefined where the document would hold the thread for long. */
  #createPlain(hash: number, bytes: Uint8Array, start: number, end: number, k: number, timeMs: number): WriteOutcome | undefined {
    const { mapping, walker } = this.#target
    const mark = mapping.mark()
    try {
      if (this.#walked?.add(k, end - start) !== true && !walker.add(bytes, start, end)) return undefined
    } catch (error) {
      return this.#takeBack(mark, error)
    }
    this.#target.stage(hash, -1)
    this.documents.rows.add(UUID_BYTES, true, bytes, start, end, walker.events.messageStart, walker.events.messageEnd)
    if (Number.isNaN(timeMs)) this.idsTellTimes = false
    this.#number(1)
    return CREATED
  }

  #run(op: WriteOp): WriteOutcome | Promise<WriteOutcome> {
    const key = idKeyOf(op.id)
    if (key.bytes.length > MAX_ID_BYTES || op.id === '')
      return refusal('illegal_argument_exception', `id must be 1 to ${MAX_ID_BYTES} bytes long, got ${key.bytes.length}`)
    const timeMs = toldTime(op)
    let current: CurrentDocument | undefined
    try {
      current = this.#target.find(key, timeMs)
    } catch (error) {
      return refused(error)
    }
    const conflict = conflictOf(op, current)
    if (conflict !== undefined) return { error: conflict }
    switch (op.action) {
      case 'create':
      case 'index':
        return this.#write(key, op.source, current, !Number.isNaN(timeMs))
      case 'update':
        return this.#update(key, op, current, timeMs)
      case 'delete':
        return this.#delete(current)
    }
  }

  #update(
    key: IdKey,
    { id, partial, upsert, isWrittenUnchanged = false }: Extract<WriteOp, { readonly action: 'update' }>,
    current: CurrentDocument | undefined,
    timeMs: number,
  ): WriteOutcome | Promise<WriteOutcome> {
    if (current === undefined) {
      if (upsert !== undefined) return this.#write(key, upsert, undefined, !Number.isNaN(timeMs))
      return { error: { type: 'document_missing_exception', reason: `[${id}]: document missing`, status: 404 } }
    }
    try {
      const stored = current.source()
      const merged = merge(stored, partial)
      if (merged === stored && !isWrittenUnchanged) return { result: 'noop', seqNo: current.seqNo, version: current.version }
      return this.#write(key, merged, current, current.idTellsTime && isOfSameTime(stored, merged))
    } catch (error) {
      return refused(error)
    }
  }

  #write(key: IdKey, source: Uint8Array, current: CurrentDocument | undefined, idTellsTime: boolean): WriteOutcome | Promise<WriteOutcome> {
    const { mapping, walker } = this.#target
    const mark = mapping.mark()
    try {
      checkDocumentSize(source)
      if (!walker.add(source)) return this.#writeInTurns(key, source, current, idTellsTime, mark)
    } catch (error) {
      return this.#takeBack(mark, error)
    }
    return this.#stage(key, source, current, idTellsTime)
  }

  async #writeInTurns(
    key: IdKey,
    source: Uint8Array,
    current: CurrentDocument | undefined,
    idTellsTime: boolean,
    mark: number,
  ): Promise<WriteOutcome> {
    try {
      await this.#target.walker.addInTurns(source, this.#turns)
    } catch (error) {
      return this.#takeBack(mark, error)
    }
    return this.#stage(key, source, current, idTellsTime)
  }

  #takeBack(mark: number, error: unknown): WriteOutcome {
    const { mapping, walker } = this.#target
    walker.forget(mapping.takeBack(mark))
    return refused(error)
  }

  #stage(key: IdKey, source: Uint8Array, current: CurrentDocument | undefined, idTellsTime: boolean): WriteOutcome {
    if (!idTellsTime) this.idsTellTimes = false
    const version = current === undefined ? 1 : current.version + 1
    this.#target.stage(key.hash, current?.place ?? -1)
    if (current !== undefined) this.#bury(current.place)
    this.documents.rows.addDocument({ id: key, source, message: this.#target.walker.events.message })
    const seqNo = this.#number(version)
    return { result: current === undefined ? 'created' : 'updated', seqNo, version }
  }

  #number(version: number): number {
    const seqNo = this.nextSeqNo++
    this.seqNos.push(seqNo)
    this.versions.push(version)
    return seqNo
  }

  #delete(current: CurrentDocument | undefined): WriteOutcome {
    const seqNo = this.nextSeqNo++
    if (current === undefined) return { result: 'not_found', seqNo, version: 1 }
    this.#bury(current.place)
    return { result: 'deleted', seqNo, version: current.version + 1 }
  }

  #bury(place: number): void {
    this.buried.push(place)
    this.#target.bury(place)
  }
}

/** Creations larger than this go the way of all operations, which looks at their size. */
const MAX_PLAIN_BYTES = 128 * 1024
/** Nobody asks for the number of a creation. */
const CREATED: WriteOutcome = { result: 'created', seqNo: -1, version: 1 }

/** The time of the document that an operation makes where there is none, where its id tells the time; NaN where it does not. */
function toldTime(op: WriteOp): number {
  if (op.action === 'delete' || op.idTellsTime !== true) return Number.NaN
  const document = op.action === 'update' ? op.upsert : op.source
  return document === undefined ? Number.NaN : leadingTimestamp(document, 0, document.length)
}

const isOfSameTime = (a: Uint8Array, b: Uint8Array): boolean => leadingTimestamp(a, 0, a.length) === leadingTimestamp(b, 0, b.length)

/** The stored document with a partial one merged into it; the same array when nothing changes. */
function merge(stored: Uint8Array, partial: Uint8Array): Uint8Array {
  checkDocumentSize(partial)
  const changes = parseJson(partial)
  if (!isJsonObject(changes)) throw new DocumentRejected('failed to parse: the partial document must be a JSON object')
  const text = Buffer.from(partial).toString()
  const patched = CHANGED_BY_PARSING.test(text) ? undefined : patchJson(stored, changes as Record<string, unknown>)
  if (patched !== undefined) return patched
  const before = parseExact(Buffer.from(stored).toString()) as Record<string, unknown>
  const after = mergeDocument(before, parseExact(text) as Record<string, unknown>)
  return after === before ? stored : Buffer.from(JSON.stringify(after))
}

/** Numbers that lose digits in `JSON.parse`: long ones, and `1.0`. */
const CHANGED_BY_PARSING = /\d{16}|\.\d*0\s*[,\]}]/

function refusal(type: string, reason: string): WriteOutcome {
  return { error: { type, reason, status: 400 } }
}

/** An operation on a document that is damaged, or of which nobody can read whether it is there. */
export const DAMAGED_STATUS = 503

function refused(error: unknown): WriteOutcome {
  if (error instanceof DocumentRejected) return rejectedWrite(error)
  // The other operations of the commit need not wait for a backup, and the type tells a client that to try again changes nothing.
  if (error instanceof DamagedSegment)
    return { error: { type: 'damaged_document_exception', reason: error.message, status: DAMAGED_STATUS } }
  throw error
}
