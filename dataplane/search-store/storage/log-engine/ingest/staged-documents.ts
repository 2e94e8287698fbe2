/** The documents of one commit, in order, before it is durable: columns, since an object each would outlive the commit's writing. */
import { grown } from '../../../grown.ts'
import type { PackedBlock } from '../format/block.ts'
import { type IdKey, isSameBytes } from '../format/document-id.ts'
import type { MessageSpan } from '../format/message-column.ts'
import type { StagedDocument } from '../format/staged-document.ts'

/** Ends of id, source start and end, message start and end. */
const ROW = 5
const NO_MESSAGE = -1

export class StagedDocuments {
  #count = 0
  /** The memory that each source is a part of. */
  #memories: Uint8Array[] = []
  #rows = new Int32Array(0)
  #areUuids = new Uint8Array(0)
  /** All ids, one behind the other. */
  #ids = new Uint8Array(0)

  /** Blocks that others have made of documents here, by the place of the first, in order. */
  #blocks: (readonly [at: number, block: PackedBlock])[] = []

  get length(): number {
    return this.#count
  }

  clear(): void {
    this.#count = 0
    this.#memories = []
    this.#blocks = []
  }

  /** Makes room for an id of so many bytes, which is to be written to `ids` from `idEnd` on. */
  reserveId(bytes: number): void {
    if (this.#ids.length < this.idEnd + bytes) this.#ids = grown(this.#ids, 2 * this.#ids.length + bytes)
  }

  get ids(): Uint8Array {
    return this.#ids
  }

  /** Behind the id of the last document. */
  get idEnd(): number {
    return this.#count === 0 ? 0 : this.#rows[ROW * (this.#count - 1)]!
  }

  /** Adds the document from `start` to `end` of `memory`, whose id stands in `ids` from `idEnd` on. */
  add(idBytes: number, isUuid: boolean, memory: Uint8Array, start: number, end: number, message: MessageSpan | undefined): void {
    const at = ROW * this.#count
    if (this.#rows.length < at + ROW) {
      this.#rows = grown(this.#rows, 2 * this.#rows.length + 64 * ROW)
      this.#areUuids = grown(this.#areUuids, this.#rows.length / ROW)
    }
    const rows = this.#rows
    rows[at] = this.idEnd + idBytes
    rows[at + 1] = start
    rows[at + 2] = end
    rows[at + 3] = message === undefined ? NO_MESSAGE : message.start
    rows[at + 4] = message === undefined ? NO_MESSAGE : message.end
    this.#areUuids[this.#count] = isUuid ? 1 : 0
    this.#memories[this.#count++] = memory
  }

  /** Takes a block that holds the documents from `at` to the last one. */
  addBlock(at: number, block: PackedBlock): void {
    this.#blocks.push([at, block])
  }

  get blocks(): readonly (readonly [at: number, block: PackedBlock])[] {
    return this.#blocks
  }

  source(k: number): Uint8Array {
    return this.#memories[k]!.subarray(this.#rows[ROW * k + 1]!, this.#rows[ROW * k + 2]!)
  }

  hasId(k: number, { bytes, isUuid }: IdKey): boolean {
    const start = this.#idStart(k)
    return this.#areUuids[k] === (isUuid ? 1 : 0) && isSameBytes(bytes, this.#ids.subarray(start, this.#rows[ROW * k]))
  }

  #idStart(k: number): number {
    return k === 0 ? 0 : this.#rows[ROW * (k - 1)]!
  }

  /** Up to `count` documents from `from` on. */
  slice(from: number, count: number): StagedDocument[] {
    const end = Math.min(this.#count, from + count)
    const documents: StagedDocument[] = []
    for (let k = from; k < end; k++) documents.push(this.#at(k))
    return documents
  }

  #at(k: number): StagedDocument {
    const rows = this.#rows
    const at = ROW * k
    const bytes = this.#ids.subarray(this.#idStart(k), rows[at])
    const message = rows[at + 3] === NO_MESSAGE ? undefined : { start: rows[at + 3]!, end: rows[at + 4]! }
    return { id: { bytes, isUuid: this.#areUuids[k] === 1 }, source: this.source(k), message }
  }
}
