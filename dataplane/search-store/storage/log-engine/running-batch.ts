/** The batch that is being committed: its documents are found before they count, and count once they are durable. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import type { WalkedDocuments, WalkerKnowledge, WalkerNews } from '../walked-documents.ts'
import type { BlockRef, EncodedBlock } from './format/block/block.ts'
import type { IdKey } from './format/document-id.ts'
import type { FrameHead } from './format/frame.ts'
import type { HeldSegments } from './held-segments.ts'
import { docOf } from './ids/place.ts'
import type { DocumentWalker } from './ingest/document-walker.ts'
import { StagedDocuments } from './ingest/staged-documents.ts'
import type { BatchTarget, CurrentDocument, WriteBatch } from './ingest/write-batch.ts'
import { writeFrame } from './tail/write-frame.ts'
import { WalkedShare } from './walked/walked-share.ts'
import { newsBeyond } from './walked/walker-news.ts'

export class RunningBatch implements BatchTarget {
  readonly mapping: MutableMapping
  readonly #held: HeldSegments
  readonly documents = new StagedDocuments()
  #seqNos: readonly number[] = []
  #versions: readonly number[] = []
  #stagedFrom = 0
  #staged = 0

  constructor(held: HeldSegments) {
    this.#held = held
    this.mapping = held.mapping
  }

  get walker(): DocumentWalker {
    return this.#held.walker
  }

  /** Starts a batch of at most `count` operations (`places` being loaded), whose documents the caller collects in `documents` and the given arrays. */
  begin(count: number, seqNos: readonly number[], versions: readonly number[]): void {
    this.#seqNos = seqNos
    this.#versions = versions
    this.#stagedFrom = this.#held.nextPlace
    this.#staged = 0
    this.#held.places.begin(count, this.#stagedFrom, this.documents)
  }

  find(key: IdKey, timeMs: number): CurrentDocument | undefined {
    const place = this.#held.places.find(key, timeMs)
    if (place < 0) return undefined
    const source = this.#held.places.stagedSource(place)
    if (source === undefined) return this.#held.documentAt(place)
    const k = place - this.#stagedFrom
    // Where it does not, the batch does not say so of its documents either.
    return { place, seqNo: this.#seqNos[k]!, version: this.#versions[k]!, idTellsTime: true, source: () => source }
  }

  mayHold(hash: number, timeMs: number): boolean {
    return this.#held.places.mayHold(hash, timeMs)
  }

  stage(hash: number, old: number): void {
    this.#held.places.stage(hash, this.#stagedFrom + this.#staged++, old)
  }

  bury(place: number): void {
    this.#held.places.bury(place)
  }

  /** Resolves once the staged batch is durable in this frame. When the write fails, the tail stays as it was. The log is written meanwhile. */
  async writeBatch(frame: Uint8Array, head: FrameHead, blocks: readonly BlockRef[]): Promise<void> {
    const { tail } = this.#held
    const { end: at } = tail
    const logging = this.#held.log?.add({ at, end: at + frame.length, frame: head, blocks, events: this.#held.walker.events })
    try {
      await writeFrame(tail, frame)
    } catch (error) {
      this.#held.log?.fail()
      throw error
    } finally {
      await logging
    }
  }

  abort(): void {
    this.#held.places.rollback()
    this.documents.clear()
  }

  /** Puts a durable batch into the index in turns with other work. Queries do not see the batch yet. */
  indexBatch(): Promise<void> {
    return this.#held.tail.index.applyInTurns(this.#held.walker.events, this.#held.tail.count)
  }

  /** Shows queries a batch that is durable and in the index. */
  commit(batch: WriteBatch, refs: readonly BlockRef[], blocks: readonly EncodedBlock[], frameBytes: number): void {
    const tail = this.#held.tail
    const firstDoc = tail.count
    for (let k = 0; k < batch.seqNos.length; k++) {
      tail.seqs.add(firstDoc + k, batch.seqNos[k]!)
      if (batch.versions[k] !== 1) tail.versions.set(firstDoc + k, batch.versions[k]!)
    }
    if (batch.seqNos.length > 0 && !batch.idsTellTimes) tail.idsTellTimes = false
    const placed = refs.map(ref => ({ ...ref, firstDoc: firstDoc + ref.firstDoc }))
    const ids = blocks.map(block => Buffer.from(block.parts[1]!))
    tail.append(placed, ids, this.#held.walker.events)
    for (const [k, ref] of placed.entries()) tail.stored.keep(ref, blocks[k]!.content)
    tail.end += frameBytes
    this.#held.log?.commit()
    for (const place of batch.buried) this.#held.deadOf(place).add(docOf(place))
    this.#held.nextSeqNo = batch.nextSeqNo
    this.#held.revision++
    this.#held.places.commit()
    this.documents.clear()
  }

  openWalked(walked: WalkedDocuments): WalkedShare | undefined {
    const { mapping, instance, context } = this.#held
    const { slots } = context
    this.#held.walker.refresh()
    return WalkedShare.open({ instance, mapping, slots, index: this.#held.tail.index, events: this.#held.walker.events }, walked)
  }

  newsFor(known: WalkerKnowledge | undefined): WalkerNews | undefined {
    const { mapping, instance } = this.#held
    return newsBeyond(known, { instance, mapping, slots: this.#held.context.slots, index: this.#held.tail.index })
  }
}
