/** Documents that are to be written, by columns: an object each, with views of its bytes, was a fifth of the garbage of the thread that makes blocks. */
import { NOWHERE } from '../../../../json/bytes.ts'
import { grown } from '../../../grown.ts'
import { type IdKey, isSameBytes } from './document-id.ts'
import type { StagedDocument } from './staged-document.ts'

/** Ends of id, start and end in memory, start and end of the message in the document. */
const ROW = 5

export class DocumentRows {
  length = 0
  /** The memory that each document is a part of. */
  #memories: Uint8Array[] = []
  #rows = new Int32Array(0)
  #areUuids = new Uint8Array(0)
  /** All ids, one behind the other. */
  #ids = new Uint8Array(0)

  clear(): void {
    this.length = 0
    this.#memories = []
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
    return this.idStart(this.length)
  }

  /**
   * Adds the document from `start` to `end` of `memory`, whose id stands in `ids` from `idEnd` on. The text of its message stands so far behind the start;
   * `NOWHERE`: it does not stand apart.
   */
  add(idBytes: number, isUuid: boolean, memory: Uint8Array, start: number, end: number, messageStart: number, messageEnd: number): void {
    const at = ROW * this.length
    if (this.#rows.length < at + ROW) {
      this.#rows = grown(this.#rows, 2 * this.#rows.length + 64 * ROW)
      this.#areUuids = grown(this.#areUuids, this.#rows.length / ROW)
    }
    const rows = this.#rows
    rows[at] = this.idEnd + idBytes
    rows[at + 1] = start
    rows[at + 2] = end
    rows[at + 3] = messageStart
    rows[at + 4] = messageEnd
    this.#areUuids[this.length] = isUuid ? 1 : 0
    this.#memories[this.length++] = memory
  }

  /** The same for a document with memory of its own. */
  addDocument({ id, source, message }: StagedDocument): void {
    this.reserveId(id.bytes.length)
    this.#ids.set(id.bytes, this.idEnd)
    this.add(id.bytes.length, id.isUuid, source, 0, source.length, message?.start ?? NOWHERE, message?.end ?? NOWHERE)
  }

  memory(k: number): Uint8Array {
    return this.#memories[k]!
  }

  start(k: number): number {
    return this.#rows[ROW * k + 1]!
  }

  end(k: number): number {
    return this.#rows[ROW * k + 2]!
  }

  /** Where the text of the message stands in the document, or `NOWHERE`. */
  messageStart(k: number): number {
    return this.#rows[ROW * k + 3]!
  }

  /** The same in the memory of the document. */
  messageAt(k: number): number {
    const start = this.messageStart(k)
    return start === NOWHERE ? NOWHERE : this.start(k) + start
  }

  messageEnd(k: number): number {
    return this.#rows[ROW * k + 4]!
  }

  idStart(k: number): number {
    return k === 0 ? 0 : this.#rows[ROW * (k - 1)]!
  }

  isUuid(k: number): boolean {
    return this.#areUuids[k] === 1
  }

  source(k: number): Uint8Array {
    return this.#memories[k]!.subarray(this.start(k), this.end(k))
  }

  idBytes(k: number): Uint8Array {
    return this.#ids.subarray(this.idStart(k), this.idStart(k + 1))
  }

  hasId(k: number, { bytes, isUuid }: IdKey): boolean {
    return this.isUuid(k) === isUuid && isSameBytes(bytes, this.idBytes(k))
  }

  /** For the few that are looked at one by one. */
  document(k: number): StagedDocument {
    const start = this.messageStart(k)
    const message = start === NOWHERE ? undefined : { start, end: this.messageEnd(k) }
    return { id: { bytes: this.idBytes(k), isUuid: this.isUuid(k) }, source: this.source(k), message }
  }
}
