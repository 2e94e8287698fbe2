/** Reads documents, messages and ids out of blocks. */
import type { MemberPick } from '../../member-pick.ts'
import { type BlockContent, type BlockRef, checkIds, idAt, readDocuments, readMessages } from '../format/block/block.ts'
import type { BlockDocuments } from '../format/block/block-documents.ts'
import type { BlockMessages } from '../format/block/message-column.ts'
import type { MessageSpan } from '../format/block/message-span.ts'
import type { StoredId } from '../format/document-id.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { ByteCache } from './byte-cache.ts'

/** Reads documents, their messages and ids out of the blocks of one segment's file. */
export interface StoredBlocks {
  source(doc: number): Uint8Array
  /** The same without the text of a message that stands apart. */
  bareSource(doc: number): Uint8Array
  /** The picked members, for less than the document costs, valid until the next call; undefined where the document has to be looked at. */
  pick(doc: number, pick: MemberPick): Uint8Array | undefined
  /** The message's JSON text without quotes, for less than the document costs; undefined where it does not stand apart. */
  message(doc: number): Uint8Array | undefined
  /** Where `message` stands in `source`. */
  messageSpan(doc: number): MessageSpan | undefined
  /** To compare it with others: a wrong bit costs that id alone, and not every write that looks at it. */
  id(doc: number): StoredId
  /** To show it, or to write it anew. */
  checkedId(doc: number): StoredId
  /** Where the block of the document stands in the file. */
  placeOf(doc: number): number
  /** Keeps a block at hand that was just written, and lets go of its memory later: nobody else may hold on to it. */
  keep(ref: BlockRef, content: BlockContent): void
}

/** Blocks just written that stay at hand unpacked: updates come soon after. They do not go through the cache, which they would flush. */
const RECENT_BLOCKS = 24

let segmentCount = 0

/** A name for cache entries that no other segment of this process has. */
export const nextCacheName = (): string => `s${segmentCount++}`

/** `cacheName`: of `nextCacheName`. */
export function createStoredBlocks(
  file: SegmentFile,
  cacheName: string,
  cache: ByteCache,
  blocks: () => readonly BlockRef[],
): StoredBlocks {
  return new SegmentBlocks(file, cacheName, cache, blocks)
}

/** An index has thousands of segments that nobody reads: each costs a few fields, and no closure. */
class SegmentBlocks implements StoredBlocks {
  readonly #file: SegmentFile
  readonly #cacheName: string
  readonly #cache: ByteCache
  readonly #blocks: () => readonly BlockRef[]
  #recent: Map<number, BlockContent> | undefined
  #whole: AtHand<BlockContent> | undefined
  #bare: AtHand<BlockDocuments> | undefined
  #messages: AtHand<BlockMessages | undefined> | undefined
  #ids: AtHand<BlockIds> | undefined

  constructor(file: SegmentFile, cacheName: string, cache: ByteCache, blocks: () => readonly BlockRef[]) {
    this.#file = file
    this.#cacheName = cacheName
    this.#cache = cache
    this.#blocks = blocks
  }

  source(doc: number): Uint8Array {
    const { ref, value } = this.#wholeWith(doc)
    const { documents, messages } = value
    const source = documents.whole(doc - ref.firstDoc, messages)
    return documents.isMade || messages?.get(doc - ref.firstDoc) !== undefined ? source : this.#owned(ref, source)
  }

  bareSource(doc: number): Uint8Array {
    const { ref, value } = this.#bareWith(doc)
    const source = value.bare(doc - ref.firstDoc)
    return value.isMade ? source : this.#owned(ref, source)
  }

  pick(doc: number, pick: MemberPick): Uint8Array | undefined {
    const { ref, value } = this.#bareWith(doc)
    return value.pick(doc - ref.firstDoc, pick)
  }

  message(doc: number): Uint8Array | undefined {
    const { ref, value } = this.#messagesWith(doc)
    const message = value?.get(doc - ref.firstDoc)
    return message && this.#owned(ref, message)
  }

  messageSpan(doc: number): MessageSpan | undefined {
    const { ref, value } = this.#messagesWith(doc)
    return value?.span(doc - ref.firstDoc)
  }

  id(doc: number): StoredId {
    const { ref, value } = this.#idsWith(doc)
    return idAt(ref, value.bytes, doc - ref.firstDoc)
  }

  checkedId(doc: number): StoredId {
    const { ref, value } = this.#idsWith(doc)
    if (!value.isChecked) checkIds(ref, value.bytes)
    value.isChecked = true
    return idAt(ref, value.bytes, doc - ref.firstDoc)
  }

  placeOf(doc: number): number {
    return this.#blockOf(doc).offset
  }

  keep(ref: BlockRef, content: BlockContent): void {
    this.#recent ??= new Map()
    this.#recent.set(ref.offset, content)
    if (this.#recent.size <= RECENT_BLOCKS) return
    for (const [oldest, { documents, messages }] of this.#recent) {
      this.#recent.delete(oldest)
      for (const each of [this.#whole, this.#bare, this.#messages]) if (each !== undefined) forget(each)
      documents.release()
      messages?.release()
      return
    }
  }

  #wholeWith(doc: number): Found<BlockContent> {
    this.#whole ??= { last: undefined }
    if (isIn(this.#whole.last, doc)) return this.#whole.last
    const ref = this.#blockOf(doc)
    return keepAtHand(this.#whole, { ref, value: { documents: this.#documentsOf(ref), messages: this.#messagesOf(ref) } })
  }

  #bareWith(doc: number): Found<BlockDocuments> {
    this.#bare ??= { last: undefined }
    if (isIn(this.#bare.last, doc)) return this.#bare.last
    const ref = this.#blockOf(doc)
    return keepAtHand(this.#bare, { ref, value: this.#documentsOf(ref) })
  }

  #messagesWith(doc: number): Found<BlockMessages | undefined> {
    this.#messages ??= { last: undefined }
    if (isIn(this.#messages.last, doc)) return this.#messages.last
    const ref = this.#blockOf(doc)
    return keepAtHand(this.#messages, { ref, value: this.#messagesOf(ref) })
  }

  #idsWith(doc: number): Found<BlockIds> {
    this.#ids ??= { last: undefined }
    if (isIn(this.#ids.last, doc)) return this.#ids.last
    const ref = this.#blockOf(doc)
    return keepAtHand(this.#ids, { ref, value: { bytes: this.#file.read(ref.idsBytes, ref.offset), isChecked: false } })
  }

  #blockOf(doc: number): BlockRef {
    const blocks = this.#blocks()
    return blocks[blockIndexOf(blocks, doc)]!
  }

  #documentsOf(ref: BlockRef): BlockDocuments {
    const kept = this.#recent?.get(ref.offset)
    if (kept !== undefined) return kept.documents
    return this.#cache.get(
      `${this.#cacheName}b${ref.offset}`,
      () => readDocuments(ref, this.#read),
      each => each.sizeBytes,
    )
  }

  #messagesOf(ref: BlockRef): BlockMessages | undefined {
    if (ref.messageBytes === 0) return undefined
    const kept = this.#recent?.get(ref.offset)
    if (kept !== undefined) return kept.messages
    return this.#cache.get(
      `${this.#cacheName}m${ref.offset}`,
      () => readMessages(ref, this.#read)!,
      each => each.sizeBytes,
    )
  }

  get #read() {
    const file = this.#file
    return (length: number, position: number) => file.read(length, position)
  }

  /** Memory of recent blocks is given back while readers may hold on to what they read. */
  #owned(ref: BlockRef, bytes: Buffer): Uint8Array {
    return this.#recent?.has(ref.offset) === true ? Buffer.from(bytes) : bytes
  }
}

interface BlockIds {
  readonly bytes: Buffer
  isChecked: boolean
}

interface Found<T> {
  readonly ref: BlockRef
  readonly value: T
}

/**
 * The block that was read last, at hand since queries go from neighbour to neighbour. Knows nothing of its segment, whose file is closed once nobody
 * holds the segment.
 */
interface AtHand<T> {
  last: Found<T> | undefined
}

const isIn = <T>(last: Found<T> | undefined, doc: number): last is Found<T> =>
  last !== undefined && doc >= last.ref.firstDoc && doc < last.ref.firstDoc + last.ref.docs

/** Blocks at hand in the whole process: a query over thousands of segments must not leave a block of each behind, beside the cache and uncounted. */
const MAX_AT_HAND = 32
/** Those that hold a block, in the order in which they came. */
const allAtHand = new Set<AtHand<unknown>>()

function keepAtHand<T>(each: AtHand<T>, found: Found<T>): Found<T> {
  each.last = found
  if (allAtHand.has(each)) return found
  allAtHand.add(each)
  if (allAtHand.size <= MAX_AT_HAND) return found
  for (const oldest of allAtHand) {
    forget(oldest)
    break
  }
  return found
}

function forget(each: AtHand<unknown>): void {
  each.last = undefined
  allAtHand.delete(each)
}

export function readContent(ref: BlockRef, file: SegmentFile): BlockContent {
  const read = (length: number, position: number) => file.read(length, position)
  return { documents: readDocuments(ref, read), messages: readMessages(ref, read) }
}

/** Gives document k of a block, byte for byte as it came. */
export const sourceReader =
  ({ documents, messages }: BlockContent) =>
  (k: number): Uint8Array =>
    documents.whole(k, messages)

export function blockIndexOf(blocks: readonly BlockRef[], doc: number): number {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (blocks[middle]!.firstDoc <= doc) low = middle
    else high = middle - 1
  }
  return low
}
