/** Walks documents for an index of another thread. */
import { NOWHERE } from '../../../../json/bytes.ts'
import type { LentBuffers } from '../../../../memory/lent-buffers.ts'
import { grown } from '../../../grown.ts'
import { openMapping } from '../../../mapping/mapping.ts'
import { mappingConfigOf } from '../../../mapping/mapping-config.ts'
import type { Creations } from '../../index-storage.ts'
import type { WalkedBlock, WalkedDocuments, WalkedShape, WalkerKnowledge, WalkerNews } from '../../walked-documents.ts'
import { nextBlockLength, packBlock } from '../format/block/block.ts'
import { putUuid, UUID_BYTES } from '../format/document-id.ts'
import { DocumentRows } from '../format/document-rows.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { createFieldSlots, type FieldSlots } from '../ingest/field-slots.ts'
import { flatRootOf } from '../segment-context.ts'
import { DOCUMENT_ROW, NO_MESSAGE, NOT_WALKED, VALUE_ROW, walkedBytes, walkedWords } from './walked-words.ts'
import { LeftToIndex, WalkerCoder } from './walker-coder.ts'

/** Fewer documents make a poor block, which is better made of those of several bulks. */
const MIN_BLOCK_DOCS = 64

/** Walks the documents of one index, as it was told last. */
export class IndexWalker {
  #news: WalkerNews
  readonly #coder = new WalkerCoder()
  readonly #slots: FieldSlots
  readonly #walker: DocumentWalker
  readonly #documents = new DocumentRows()
  readonly #memory: LentBuffers
  /** Documents of the last form that were left to the index. */
  left = 0
  #form = 0
  /** Per document: start and end of the message. */
  #messages = new Int32Array(0)
  #values: Int32Array<ArrayBuffer> = new Int32Array(64 * VALUE_ROW)
  #valueCount = 0
  #valueBytes = Buffer.alloc(1024)
  #valueEnd = 0
  /** By slot here: the form that the slot is in, and its number there. */
  #slotForms = new Uint32Array(64)
  #slotNumbers = new Uint32Array(64)
  #paths: string[] = []

  constructor(news: WalkerNews, memory: LentBuffers) {
    this.#news = news
    this.#memory = memory
    const mapping = openMapping(mappingConfigOf(news.mapping, Number.POSITIVE_INFINITY))
    this.#slots = createFieldSlots(path => flatRootOf(mapping, path))
    this.#coder.setTermFields(news.termFields)
    this.#walker = new DocumentWalker(mapping, this.#slots, this.#coder)
  }

  get knowledge(): WalkerKnowledge {
    const { instance, revision, generation, termFields } = this.#news
    return { instance, revision, generation, termFields: termFields.length }
  }

  knows(news: WalkerNews): boolean {
    return this.#hasMapping(news) && news.termFields.length === this.#news.termFields.length
  }

  /** False: another walker is needed. */
  learn(news: WalkerNews): boolean {
    if (!this.#hasMapping(news)) return false
    this.#news = news
    this.#coder.setTermFields(news.termFields)
    return true
  }

  #hasMapping({ instance, revision, generation }: WalkerNews): boolean {
    const { instance: ownInstance, revision: ownRevision, generation: ownGeneration } = this.#news
    return instance === ownInstance && revision === ownRevision && generation === ownGeneration
  }

  walk({ bytes, places, count }: Creations): WalkedDocuments {
    const { events } = this.#walker
    this.#begin(count)
    let areIds = true
    for (let k = 0; k < count; k++) {
      const start = places[3 * k + 1]!
      const end = places[3 * k + 2]!
      const isWalked = this.#walkOne(bytes, start, end)
      if (!isWalked) this.left++
      const hasMessage = isWalked && events.messageStart !== NOWHERE
      this.#messages[2 * k] = hasMessage ? events.messageStart : isWalked ? NO_MESSAGE : NOT_WALKED
      this.#messages[2 * k + 1] = hasMessage ? events.messageEnd : NO_MESSAGE
      areIds &&= this.#stage(bytes, places[3 * k]!, start, end)
    }
    const blocks = areIds ? this.#packBlocks() : []
    return this.#written(count, blocks)
  }

  #begin(count: number): void {
    this.#form++
    this.left = 0
    this.#coder.begin()
    this.#walker.events.clear()
    this.#documents.clear()
    if (this.#messages.length < 2 * count) this.#messages = new Int32Array(2 * count)
    this.#valueCount = 0
    this.#valueEnd = 0
    this.#paths = []
  }

  #walkOne(bytes: Buffer, start: number, end: number): boolean {
    try {
      if (this.#walker.addPlain(bytes, start, end)) return true
    } catch (error) {
      if (!(error instanceof LeftToIndex)) throw error
    }
    this.#walker.addNothing()
    return false
  }

  /** False: the id is none of those that blocks are made of here. */
  #stage(bytes: Buffer, idStart: number, start: number, end: number): boolean {
    const documents = this.#documents
    const { messageStart, messageEnd } = this.#walker.events
    documents.reserveId(UUID_BYTES)
    if (!putUuid(bytes, idStart, start, documents.ids, documents.idEnd)) return false
    documents.add(UUID_BYTES, true, bytes, start, end, messageStart, messageEnd)
    return true
  }

  #packBlocks(): WalkedBlock[] {
    const blocks: WalkedBlock[] = []
    const documents = this.#documents
    for (let from = 0; documents.length - from >= MIN_BLOCK_DOCS; ) {
      const to = from + nextBlockLength(documents, from)
      if (this.#areWalked(from, to)) blocks.push({ from, block: packBlock(documents, from, to) })
      from = to
    }
    return blocks
  }

  /** The index finds the messages of the others. */
  #areWalked(from: number, to: number): boolean {
    for (let k = from; k < to && this.left > 0; k++) if (this.#messages[2 * k] === NOT_WALKED) return false
    return true
  }

  #written(count: number, blocks: readonly WalkedBlock[]): WalkedDocuments {
    const { events } = this.#walker
    const { numberEnd, codeEnd, termEnd } = events
    this.#numberValues()
    const pairs = this.#coder.pairs.changes()
    const lengths = { numberEnd, codeEnd, termEnd, pairEnd: pairs.length, values: this.#valueCount }
    const words = this.#memory.takeWhole(walkedBytes(count, lengths)).buffer
    const parts = walkedWords({ words, count, lengths })
    parts.numbers.set(events.numbers.subarray(0, numberEnd))
    for (let k = 0; k < numberEnd; k++) parts.numberSlots[k] = this.#slotOf(events.numberSlots[k]!)
    parts.codes.set(events.codes.subarray(0, codeEnd))
    parts.values.set(this.#values.subarray(0, VALUE_ROW * this.#valueCount))
    const shapes = this.#writeRows(count, parts.rows)
    parts.pairs.set(pairs)
    parts.terms.set(events.terms.subarray(0, termEnd))
    const { instance, revision } = this.#news
    const valueBytes = Uint8Array.from(this.#valueBytes.subarray(0, this.#valueEnd))
    const starts = this.#coder.shapes.starts.isEmpty ? undefined : Uint8Array.from(this.#coder.shapes.starts.toBytes())
    return { instance, revision, count, words, lengths, paths: this.#paths, valueBytes, shapes, starts, blocks }
  }

  /** Puts the numbers of the form in the place of slots and codes here. */
  #numberValues(): void {
    const { codes, codeEnd } = this.#walker.events
    const form = this.#form
    for (let at = 0; at < codeEnd; at += 2) {
      const slot = codes[at]!
      const code = codes[at + 1]!
      const column = this.#coder.column(slot)
      codes[at] = this.#slotOf(slot)
      let number = column.numberIn(form, code)
      if (number < 0) {
        number = this.#addValue(codes[at]!, column.lo(code), column.hi(code), column.bytes(code))
        column.setNumber(form, code, number)
      }
      codes[at + 1] = number
    }
  }

  #addValue(slot: number, lo: number, hi: number, value: Uint8Array): number {
    const number = this.#valueCount++
    const at = VALUE_ROW * number
    if (this.#values.length < at + VALUE_ROW) this.#values = grown(this.#values)
    const start = this.#valueEnd
    const end = start + value.length
    if (this.#valueBytes.length < end) {
      const longer = Buffer.alloc(2 * end)
      longer.set(this.#valueBytes)
      this.#valueBytes = longer
    }
    this.#valueBytes.set(value, start)
    this.#valueEnd = end
    this.#values[at] = slot
    this.#values[at + 1] = lo
    this.#values[at + 2] = hi
    this.#values[at + 3] = start
    this.#values[at + 4] = end
    return number
  }

  #slotOf(slot: number): number {
    if (this.#slotForms.length <= slot) {
      this.#slotForms = grown(this.#slotForms, 2 * slot + 1)
      this.#slotNumbers = grown(this.#slotNumbers, 2 * slot + 1)
    }
    if (this.#slotForms[slot] !== this.#form) {
      this.#slotForms[slot] = this.#form
      this.#slotNumbers[slot] = this.#paths.push(this.#slots.all[slot]!.path) - 1
    }
    return this.#slotNumbers[slot]!
  }

  /** Returns the shapes that the documents have. */
  #writeRows(count: number, rows: Int32Array): readonly WalkedShape[] {
    const shapes: WalkedShape[] = []
    const { ends, shapes: codes } = this.#walker.events
    const messages = this.#messages
    const numbers = new Map<number, number>()
    for (let k = 0; k < count; k++) {
      const at = DOCUMENT_ROW * k
      rows[at] = ends[3 * k]!
      rows[at + 1] = ends[3 * k + 1]!
      rows[at + 2] = ends[3 * k + 2]!
      rows[at + 3] = messages[2 * k]!
      rows[at + 4] = messages[2 * k + 1]!
      const code = codes[k]!
      let number = code === 0 ? 0 : numbers.get(code)
      if (number === undefined) {
        number = shapes.push(this.#coder.shapes.shape(code))
        numbers.set(code, number)
      }
      rows[at + 5] = number
    }
    return shapes
  }
}
