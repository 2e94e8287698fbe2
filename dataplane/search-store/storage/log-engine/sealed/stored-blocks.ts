/** Reads documents, messages and ids out of blocks. */
import type { MemberPick } from '../../member-pick.ts'
import { type BlockContent, type BlockRef, idAt, readDocuments, readMessages } from '../format/block.ts'
import type { BlockDocuments } from '../format/block-documents.ts'
import type { StoredId } from '../format/document-id.ts'
import type { BlockMessages } from '../format/message-column.ts'
import type { MessageSpan } from '../format/message-span.ts'
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
  id(doc: number): StoredId
  /** Keeps a block at hand that was just written, and lets go of its memory later: nobody else may hold on to it. */
  keep(ref: BlockRef, content: BlockContent): void
}

/** Blocks just written that stay at hand unpacked: updates come soon after. They do not go through the cache, which they would flush. */
const RECENT_BLOCKS = 24

let segmentCount = 0

/** A name for cache entries that no other segment of this process has. */
export const nextCacheName = (): string => `s${segmentCount++}`

export function createStoredBlocks(
  file: SegmentFile,
  cacheName: string,
  cache: ByteCache,
  blocks: () => readonly BlockRef[],
): StoredBlocks {
  const recent = new Map<number, BlockContent>()
  const read = (length: number, position: number) => file.read(length, position)

  function documentsOf(ref: BlockRef): BlockDocuments {
    const kept = recent.get(ref.offset)
    if (kept !== undefined) return kept.documents
    return cache.get(
      `${cacheName}b${ref.offset}`,
      () => readDocuments(ref, read),
      each => each.sizeBytes,
    )
  }

  function messagesOf(ref: BlockRef): BlockMessages | undefined {
    if (ref.messageBytes === 0) return undefined
    const kept = recent.get(ref.offset)
    if (kept !== undefined) return kept.messages
    return cache.get(
      `${cacheName}m${ref.offset}`,
      () => readMessages(ref, read)!,
      each => each.sizeBytes,
    )
  }

  const documentsWith = lastBlock(blocks, ref => ({ documents: documentsOf(ref), messages: messagesOf(ref) }))
  const bareDocumentsWith = lastBlock(blocks, documentsOf)
  const messagesWith = lastBlock(blocks, messagesOf)
  const idsWith = lastBlock(blocks, ref => file.read(ref.idsBytes, ref.offset))

  /** Memory of recent blocks is given back while readers may hold on to what they read. */
  const owned = (ref: BlockRef, bytes: Buffer) => (recent.has(ref.offset) ? Buffer.from(bytes) : bytes)

  return {
    source(doc) {
      const { ref, value } = documentsWith(doc)
      const { documents, messages } = value
      const source = documents.whole(doc - ref.firstDoc, messages)
      return documents.isMade || messages?.get(doc - ref.firstDoc) !== undefined ? source : owned(ref, source)
    },
    bareSource(doc) {
      const { ref, value } = bareDocumentsWith(doc)
      const source = value.bare(doc - ref.firstDoc)
      return value.isMade ? source : owned(ref, source)
    },
    pick(doc, pick) {
      const { ref, value } = bareDocumentsWith(doc)
      return value.pick(doc - ref.firstDoc, pick)
    },
    message(doc) {
      const { ref, value } = messagesWith(doc)
      const message = value?.get(doc - ref.firstDoc)
      return message && owned(ref, message)
    },
    messageSpan(doc) {
      const { ref, value } = messagesWith(doc)
      return value?.span(doc - ref.firstDoc)
    },
    id(doc) {
      const { ref, value } = idsWith(doc)
      return idAt(ref, value, doc - ref.firstDoc)
    },
    keep(ref, content) {
      recent.set(ref.offset, content)
      if (recent.size <= RECENT_BLOCKS) return
      for (const [oldest, { documents, messages }] of recent) {
        recent.delete(oldest)
        documentsWith.forget()
        bareDocumentsWith.forget()
        messagesWith.forget()
        documents.release()
        messages?.release()
        return
      }
    },
  }
}

/** A block that stays at hand. Knows nothing of its segment, whose file is closed once nobody holds the segment. */
interface AtHand<T> {
  last: { readonly ref: BlockRef; readonly value: T } | undefined
}

/** Blocks at hand in the whole process: a query over thousands of segments must not leave a block of each behind, beside the cache and uncounted. */
const MAX_AT_HAND = 32
/** Those that hold a block, in the order in which they came. */
const allAtHand = new Set<AtHand<unknown>>()

function keepAtHand(each: AtHand<unknown>): void {
  if (allAtHand.has(each)) return
  allAtHand.add(each)
  if (allAtHand.size <= MAX_AT_HAND) return
  for (const oldest of allAtHand) {
    forget(oldest)
    return
  }
}

function forget(each: AtHand<unknown>): void {
  each.last = undefined
  allAtHand.delete(each)
}

/** The result of `load` for the block that holds a document; the last one stays at hand, since queries go from neighbour to neighbour. */
function lastBlock<T>(blocks: () => readonly BlockRef[], load: (ref: BlockRef) => T) {
  const own: AtHand<T> = { last: undefined }
  const at = (doc: number) => {
    const { last } = own
    if (last !== undefined && doc >= last.ref.firstDoc && doc < last.ref.firstDoc + last.ref.docs) return last
    const ref = blockOf(blocks(), doc)
    const next = { ref, value: load(ref) }
    own.last = next
    keepAtHand(own)
    return next
  }
  return Object.assign(at, { forget: () => forget(own) })
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

const blockOf = (blocks: readonly BlockRef[], doc: number) => blocks[blockIndexOf(blocks, doc)]!

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
