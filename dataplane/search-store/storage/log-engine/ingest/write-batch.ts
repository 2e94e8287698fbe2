/** Checks and stages the operations of one commit, in order. */

import { parseExact } from '../../../json/exact-numbers.ts'
import { DocumentRejected } from '../../../mapping/document-rejected.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { checkDocumentSize, parseJson } from '../../../mapping/parse-document.ts'
import type { Turns } from '../../../turns.ts'
import { mergeDocument } from '../../document-table/merge-document.ts'
import type { WriteOp, WriteOutcome } from '../../index-storage.ts'
import { conflictOf } from '../../write-conflict.ts'
import { type IdKey, idKeyOf, MAX_ID_BYTES } from '../format/document-id.ts'
import type { StagedDocument } from '../format/staged-document.ts'
import type { DocumentWalker } from './document-walker.ts'
import { patchJson } from './patch-json.ts'

/** A document as the batch finds it: stored before, or staged by an earlier operation of the same batch. */
export interface CurrentDocument {
  readonly place: number
  readonly seqNo: number
  readonly version: number
  source(): Uint8Array
}

/** The index, as a batch uses it. */
export interface BatchTarget {
  readonly mapping: MutableMapping
  readonly walker: DocumentWalker
  find(key: IdKey): CurrentDocument | undefined
  /** Lets `find` give the document that is staged next for the id, in place of `old`. */
  stage(key: IdKey, old: number): void
  /** Lets `find` no longer give the document at this place. */
  bury(place: number): void
}

/** The operations of one commit, checked and staged in order; nothing of it counts before it is durable. */
export class WriteBatch {
  readonly outcomes: WriteOutcome[] = []
  readonly documents: StagedDocument[] = []
  /** Per document. */
  readonly seqNos: number[] = []
  readonly versions: number[] = []
  /** Places that die with the batch. */
  readonly buried: number[] = []
  nextSeqNo: number
  readonly #target: BatchTarget
  readonly #turns: Turns

  constructor(target: BatchTarget, nextSeqNo: number, turns: Turns) {
    this.#target = target
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

  #run(op: WriteOp): WriteOutcome | Promise<WriteOutcome> {
    const key = idKeyOf(op.id)
    if (key.bytes.length > MAX_ID_BYTES || op.id === '')
      return refusal('illegal_argument_exception', `id must be 1 to ${MAX_ID_BYTES} bytes long, got ${key.bytes.length}`)
    const current = this.#target.find(key)
    const conflict = conflictOf(op, current)
    if (conflict !== undefined) return { error: conflict }
    switch (op.action) {
      case 'create':
      case 'index':
        return this.#write(key, op.source, current)
      case 'update':
        return this.#update(key, op.partial, op.upsert, current, op.id)
      case 'delete':
        return this.#delete(current)
    }
  }

  #update(
    key: IdKey,
    partial: Uint8Array,
    upsert: Uint8Array | undefined,
    current: CurrentDocument | undefined,
    id: string,
  ): WriteOutcome | Promise<WriteOutcome> {
    if (current === undefined) {
      if (upsert !== undefined) return this.#write(key, upsert, undefined)
      return { error: { type: 'document_missing_exception', reason: `[${id}]: document missing`, status: 404 } }
    }
    try {
      const stored = current.source()
      const merged = merge(stored, partial)
      if (merged === stored) return { result: 'noop', seqNo: current.seqNo, version: current.version }
      return this.#write(key, merged, current)
    } catch (error) {
      return refused(error)
    }
  }

  #write(key: IdKey, source: Uint8Array, current: CurrentDocument | undefined): WriteOutcome | Promise<WriteOutcome> {
    const { mapping, walker } = this.#target
    const mark = mapping.mark()
    try {
      checkDocumentSize(source)
      if (!walker.add(source)) return this.#writeInTurns(key, source, current, mark)
    } catch (error) {
      return this.#takeBack(mark, error)
    }
    return this.#stage(key, source, current)
  }

  async #writeInTurns(key: IdKey, source: Uint8Array, current: CurrentDocument | undefined, mark: number): Promise<WriteOutcome> {
    try {
      await this.#target.walker.addInTurns(source, this.#turns)
    } catch (error) {
      return this.#takeBack(mark, error)
    }
    return this.#stage(key, source, current)
  }

  #takeBack(mark: number, error: unknown): WriteOutcome {
    const { mapping, walker } = this.#target
    walker.forget(mapping.takeBack(mark))
    return refused(error)
  }

  #stage(key: IdKey, source: Uint8Array, current: CurrentDocument | undefined): WriteOutcome {
    const version = current === undefined ? 1 : current.version + 1
    const seqNo = this.nextSeqNo++
    this.#target.stage(key, current?.place ?? -1)
    if (current !== undefined) this.#bury(current.place)
    this.documents.push({ id: key, source, message: this.#target.walker.events.message })
    this.seqNos.push(seqNo)
    this.versions.push(version)
    return { result: current === undefined ? 'created' : 'updated', seqNo, version }
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

/** The stored document with a partial one merged into it; the same array when nothing changes. */
function merge(stored: Uint8Array, partial: Uint8Array): Uint8Array {
  checkDocumentSize(partial)
  const changes = parseJson(partial)
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes))
    throw new DocumentRejected('failed to parse: the partial document must be a JSON object')
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

function refused(error: unknown): WriteOutcome {
  if (error instanceof DocumentRejected) return refusal(error.type, error.message)
  throw error
}
