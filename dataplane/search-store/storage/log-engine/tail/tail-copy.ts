/** The query process's copy of the tail. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { SnapshotGone } from '../../index-copy.ts'
import type { TailExtent } from '../../index-feed.ts'
import type { Frame } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import { giveBack } from '../format/segment-index/lent-words.ts'
import { giveEventsBack } from '../format/segment-index/packed-values.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { readContent, sourceReader } from '../sealed/stored-blocks.ts'
import type { SegmentContext } from '../segment-context.ts'
import { IndexLogReader, type LoggedTerms } from './index-log-reader.ts'
import { readFrame } from './read-frame.ts'
import { takeFrame } from './replay-tail.ts'
import { Tail } from './tail.ts'

/** Bytes of documents between two looks at the clock: half a millisecond of work, as a rule. */
const PIECE_BYTES = 32 * 1024

/** How long after a query on words the words of new documents are taken in before the next one, ms. */
const FOLLOW_TERMS_MS = 10_000

/** The files of a tail: its frames, and the log of its index where there is one. */
export interface TailFiles {
  readonly segment: SegmentFile
  readonly log: SegmentFile | undefined
}

/** Terms of a commit that no query has asked for. */
interface PendingTerms {
  readonly logged: LoggedTerms
  readonly ends: Int32Array
  readonly count: number
  readonly firstDoc: number
}

/**
 * The index over an unsealed segment that another process writes, as far as queries ask: out of the log that the writer keeps, and from the
 * documents of its frames where the log has ended. Terms, most of the work, come in when a query asks for words.
 */
export class TailCopy {
  readonly tail: Tail
  readonly context: SegmentContext
  readonly #mapping: MutableMapping
  readonly #files: TailFiles
  readonly #log: IndexLogReader | undefined
  /** In the order of documents. */
  #pending: PendingTerms[] = []
  /** When a query last asked for terms of this tail, or of those before. */
  #termsAskedMs: number
  /** The rest of the terms that are being taken in. */
  #terms: Generator<void, void, undefined> | undefined
  /** Made where a frame has to be walked. */
  #walker: DocumentWalker | undefined
  /** The rest of the frame that is being read. */
  #frame: Generator<void, void, undefined> | undefined

  /** `before`: the copy of the tail before, which is sealed now. Fields in which it met too many values stay without columns. */
  constructor(context: SegmentContext, mapping: MutableMapping, number: number, files: TailFiles, before: TailCopy | undefined) {
    const { segment, log } = files
    const isRelated = before !== undefined && before.context === context
    const high = isRelated ? before.#highFields() : new Set<number>()
    this.context = context
    this.#mapping = mapping
    this.#files = files
    this.#log = log && new IndexLogReader(log, context)
    this.tail = new Tail(context, number, segment, high, isRelated ? before.tail.index.terms.size : 0)
    this.#termsAskedMs = isRelated ? before.#termsAskedMs : Number.NEGATIVE_INFINITY
    if (this.#log !== undefined)
      this.tail.takeTerms = () => {
        this.#termsAskedMs = performance.now()
        return this.#takeTerms()
      }
  }

  get memoryBytes(): number {
    return this.tail.memoryBytes
  }

  /** Gives its memory back. Nobody may read it any more. */
  release(): void {
    this.tail.release()
  }

  /** Nobody may read it any more. */
  close(): void {
    this.#files.segment.close()
    this.#files.log?.close()
  }

  #highFields(): Set<number> {
    const high = new Set(this.tail.high)
    for (const [number, column] of this.tail.index.keywords.entries()) if (column?.isPartial) high.add(number)
    return high
  }

  /**
   * Reads up to the extent's end at least. All callers that wait do the work, each a piece in its own turn: a query that has had much time already,
   * whose turns are few, holds up no other. Every frame that is finished stays.
   */
  async catchUp(extent: TailExtent, step: () => Promise<unknown>): Promise<void> {
    const { end, count } = extent
    while (this.tail.end < end) {
      this.#readOn(extent)
      await step()
    }
    if (this.tail.count < count) throw new SnapshotGone(`document ${count} of ${this.tail.file.path}`)
  }

  /** One piece of the frame that is being read, or of the next one. */
  #readOn(extent: TailExtent): void {
    this.#frame ??= this.#readFrame(extent)
    try {
      if (this.#frame.next().done === true) this.#frame = undefined
    } catch (error) {
      this.#frame = undefined
      throw error
    }
  }

  *#readFrame({ end, logEnd }: TailExtent): Generator<void, void, undefined> {
    const { tail } = this
    if (!(yield* this.#readLog(logEnd))) yield* this.#walk(this.#frameAt(tail.end, end))
    this.#mapping.commit()
  }

  /** False: the next frame has to be walked. */
  *#readLog(logEnd: number): Generator<void, boolean, undefined> {
    const { tail } = this
    const next = this.#log?.recordAt(tail.end, logEnd)
    if (next === undefined) return false
    const { frame, end, blocks } = next.record.head
    const firstDoc = tail.count
    // One made before may know fields by other slots.
    this.#walker = undefined
    const events = this.#log!.take(next.record, tail)
    const { ends, count } = events
    yield* tail.index.applyValues(events, firstDoc)
    const placed = blocks.map(block => ({ ...block, firstDoc: firstDoc + block.firstDoc }))
    this.#pending.push({ logged: next.terms, ends: ends.slice(), count, firstDoc })
    takeFrame(tail, events, { head: frame, end, blocks: placed, docs: count })
    giveEventsBack(events)
    return true
  }

  /** Takes in terms where queries have asked for some lately. */
  async followTerms(step: () => Promise<unknown>): Promise<void> {
    if (performance.now() - this.#termsAskedMs > FOLLOW_TERMS_MS) return
    while (this.#log !== undefined && this.#takeTerms()) await step()
  }

  /** Takes in one piece of the terms for all queries that wait. False when there are no more. */
  #takeTerms(): boolean {
    this.#terms ??= this.#pendingTerms()
    try {
      if (this.#terms.next().done !== true) return true
    } catch (error) {
      this.#terms = undefined
      throw error
    }
    this.#terms = undefined
    return false
  }

  *#pendingTerms(): Generator<void, void, undefined> {
    for (let next = this.#pending[0]; next !== undefined; next = this.#pending[0]) {
      const terms = this.#log!.termsOf(next.logged)
      yield* this.tail.index.applyTerms({ ...next, terms }, next.firstDoc)
      giveBack(terms)
      this.#pending.shift()
    }
  }

  /** The writer may have put another file in this one's place before it was opened: what stands there is no frame then. */
  #frameAt(at: number, end: number): Frame {
    const { file, count } = this.tail
    const gone = (cause?: unknown) => new SnapshotGone(`the frame at ${at} of ${file.path}`, { cause })
    let frame: Frame | undefined
    try {
      frame = readFrame(file, at, end, count)
    } catch (cause) {
      throw gone(cause)
    }
    if (frame === undefined) throw gone()
    return frame
  }

  *#walk(frame: Frame): Generator<void, void, undefined> {
    const { tail } = this
    // Terms come in the order of documents.
    while (this.#takeTerms()) yield
    this.#walker ??= new DocumentWalker(this.#mapping, this.context.slots, tail.index)
    const walker = this.#walker
    walker.events.clear()
    let pieceBytes = 0
    for (const block of frame.blocks) {
      const read = sourceReader(readContent(block, tail.file))
      for (let k = 0; k < block.docs; k++) {
        const source = read(k)
        walker.addStored(source)
        pieceBytes += source.length
        if (pieceBytes < PIECE_BYTES) continue
        yield
        pieceBytes = 0
      }
    }
    tail.index.apply(walker.events, tail.count)
    takeFrame(tail, walker.events, frame)
  }
}
