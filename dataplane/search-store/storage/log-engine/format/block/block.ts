/** A block on disk: up to 250 documents with their ids, compressed together. Messages stand apart in a frame of their own. */
import { crc32 } from 'node:zlib'
import { compress, decompress } from '../../../../../compression/zstd.ts'
import { NOWHERE } from '../../../../../json/bytes.ts'
import { writePlanes } from '../bytes/byte-planes.ts'
import { type StoredId, UUID_BYTES } from '../document-id.ts'
import type { DocumentRows } from '../document-rows.ts'
import type { StagedDocument } from '../staged-document.ts'
import { type BlockDocuments, plainDocuments } from './block-documents.ts'
import { CutDocuments, packDocuments, unpackDocuments } from './cut-documents.ts'
import { packMessages } from './cut-messages.ts'
import { type BlockMessages, layOutMessages, PlainMessages } from './message-column.ts'
import { CutMessages } from './read-messages.ts'

/** Documents per block: reading one of them costs as much as there are documents. `MAX_DOCS` may be no less. */
export const BLOCK_DOCS = 250
/** Blocks end at this many bytes of documents too. */
const BLOCK_BYTES = 512 * 1024
/** Less than this is kept as it is: the call would cost more than the space. */
const MIN_COMPRESSED_BYTES = 4096

const HEADER_BYTES = 20
/** Header of a block whose messages stand apart. */
const LONG_HEADER_BYTES = 28
const IS_UUIDS = 1
const IS_COMPRESSED = 2
const HAS_MESSAGES = 4
const ARE_MESSAGES_COMPRESSED = 8
const ARE_CUT = 16
const ARE_MESSAGES_CUT = 32
const HAS_CHECKSUMS = 64
const CHECKSUM_BYTES = 12

/** Where a block stands and what it holds. Offsets are in the segment's file. */
export interface BlockRef {
  /** Number of its first document. */
  readonly firstDoc: number
  readonly docs: number
  readonly areUuids: boolean
  readonly isCompressed: boolean
  /** Values that differ in all documents are kept apart from their texts. */
  readonly areCut: boolean
  /** Where the ids begin; the documents follow the ids. */
  readonly offset: number
  readonly idsBytes: number
  readonly dataBytes: number
  /** Size of the unpacked documents with their lengths, or of the parts that they are made of. */
  readonly rawBytes: number
  /** Size of the messages, which follow the documents; 0: the messages stand in the documents. */
  readonly messageBytes: number
  readonly messageRawBytes: number
  readonly areMessagesCompressed: boolean
  /** Numbers, addresses and ids are kept apart from the texts of messages. */
  readonly areMessagesCut: boolean
  /** Blocks that were written before 2026-11-29 have none. */
  readonly hasChecksums: boolean
  /** CRC-32 of each part as it lies in the file; 0 without checksums. */
  readonly idsChecksum: number
  readonly dataChecksum: number
  readonly messagesChecksum: number
}

export interface EncodedBlock {
  /** Header, ids, documents, messages. */
  readonly parts: readonly Uint8Array[]
  readonly sizeBytes: number
  /** `offset` counts from the block's own start. */
  readonly ref: BlockRef
  /** The unpacked content. */
  readonly content: BlockContent
}

/** A block's documents, unpacked: the documents without their messages, and the messages. */
export interface BlockContent {
  readonly documents: BlockDocuments
  readonly messages: BlockMessages | undefined
}

/** How many documents from `from` on make the next block, of `most` at most. */
export function nextBlockLength(documents: DocumentRows, from: number, most = BLOCK_DOCS): number {
  let bytes = 0
  let count = 0
  while (from + count < documents.length && count < most) {
    bytes += documents.end(from + count) - documents.start(from + count)
    if (count > 0 && bytes > BLOCK_BYTES) break
    count++
  }
  return count
}

/** A block of the documents from `from` to `to`, the first of which is number `firstDoc`. */
export function encodeRows(documents: DocumentRows, from: number, to: number, firstDoc: number): EncodedBlock {
  return openPacked(packBlock(documents, from, to), firstDoc)
}

/** A block as plain bytes, which may go from thread to thread: each part has memory of its own, or that of another part. */
export interface PackedBlock {
  /** The first document is number 0. */
  readonly ref: BlockRef
  readonly header: Uint8Array
  readonly ids: Uint8Array
  readonly data: Uint8Array
  readonly messages: Uint8Array
  /** The content of `data`, unpacked: the documents, or where they are cut their texts. */
  readonly texts: Uint8Array
  /** Values that were cut out. */
  readonly values: Uint8Array
  /** The content of `messages`, unpacked. */
  readonly rawMessages: Uint8Array
}

export function packBlock(documents: DocumentRows, from: number, to: number): PackedBlock {
  let areUuids = true
  let hasMessages = false
  for (let k = from; k < to; k++) {
    areUuids &&= documents.isUuid(k)
    hasMessages ||= documents.messageStart(k) !== NOWHERE
  }
  const ids = areUuids ? uuidsOf(documents, from, to) : encodeMixedIds(documents, from, to)
  const cut = areUuids ? packDocuments(documents, from, to, ids) : undefined
  const raw = cut === undefined ? layOut(documents, from, to, hasMessages) : cut.texts
  const data = cut?.data ?? packedIfWorth(raw)
  const rawMessages = hasMessages ? layOutMessages(documents, from, to) : NO_BYTES
  const cutMessages = packMessages(rawMessages, to - from)
  const messages = cutMessages ?? packedIfWorth(rawMessages)
  const header = Buffer.alloc(headerBytes(hasMessages, true))
  const ref: BlockRef = {
    firstDoc: 0,
    docs: to - from,
    areUuids,
    isCompressed: cut === undefined && data !== raw,
    areCut: cut !== undefined,
    offset: header.length,
    idsBytes: ids.length,
    dataBytes: data.length,
    rawBytes: cut === undefined ? raw.length : CutDocuments.sizeOf(cut.texts, cut.values, ids),
    messageBytes: messages.length,
    messageRawBytes: rawMessages.length,
    areMessagesCompressed: cutMessages === undefined && messages !== rawMessages,
    areMessagesCut: cutMessages !== undefined,
    hasChecksums: true,
    idsChecksum: crc32(ids),
    dataChecksum: crc32(data),
    messagesChecksum: crc32(messages),
  }
  writeHeader(header, ref)
  return { ref, header, ids, data, messages, texts: raw, values: cut?.values ?? NO_BYTES, rawMessages }
}

/** The block as a part of a commit, in which its first document is number `firstDoc`. */
export function openPacked({ ref, header, ids, data, messages, ...unpacked }: PackedBlock, firstDoc: number): EncodedBlock {
  const { docs, messageBytes } = ref
  const hasMessages = messageBytes > 0
  const texts = bufferOf(unpacked.texts)
  return {
    parts: hasMessages ? [header, ids, data, messages] : [header, ids, data],
    sizeBytes: blockBytes(ref),
    content: {
      documents: ref.areCut
        ? new CutDocuments(texts, bufferOf(unpacked.values), docs, bufferOf(ids))
        : plainDocuments(texts, docs, hasMessages),
      messages: hasMessages ? new PlainMessages(bufferOf(unpacked.rawMessages), docs) : undefined,
    },
    ref: { ...ref, firstDoc },
  }
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const NO_BYTES = Buffer.alloc(0)

const packedIfWorth = (raw: Buffer): Uint8Array => (raw.length < MIN_COMPRESSED_BYTES ? raw : compress(raw))

const headerBytes = (hasMessages: boolean, hasChecksums: boolean) =>
  (hasMessages ? LONG_HEADER_BYTES : HEADER_BYTES) + (hasChecksums ? CHECKSUM_BYTES : 0)

/** Length of the whole block. */
export const blockBytes = (ref: BlockRef) =>
  headerBytes(ref.messageBytes > 0, ref.hasChecksums) + ref.idsBytes + ref.dataBytes + ref.messageBytes

/** A block's yes and no in one number. */
export function flagsOf(ref: BlockRef): number {
  return (
    (ref.areUuids ? IS_UUIDS : 0) |
    (ref.isCompressed ? IS_COMPRESSED : 0) |
    (ref.messageBytes > 0 ? HAS_MESSAGES : 0) |
    (ref.areMessagesCompressed ? ARE_MESSAGES_COMPRESSED : 0) |
    (ref.areCut ? ARE_CUT : 0) |
    (ref.areMessagesCut ? ARE_MESSAGES_CUT : 0) |
    (ref.hasChecksums ? HAS_CHECKSUMS : 0)
  )
}

export function readFlags(
  flags: number,
): Pick<BlockRef, 'areUuids' | 'isCompressed' | 'areMessagesCompressed' | 'areCut' | 'areMessagesCut' | 'hasChecksums'> {
  return {
    areUuids: (flags & IS_UUIDS) !== 0,
    isCompressed: (flags & IS_COMPRESSED) !== 0,
    areMessagesCompressed: (flags & ARE_MESSAGES_COMPRESSED) !== 0,
    areCut: (flags & ARE_CUT) !== 0,
    areMessagesCut: (flags & ARE_MESSAGES_CUT) !== 0,
    hasChecksums: (flags & HAS_CHECKSUMS) !== 0,
  }
}

function writeHeader(header: Buffer, ref: BlockRef): void {
  header.writeUInt32LE(ref.docs, 0)
  header.writeUInt32LE(flagsOf(ref), 4)
  header.writeUInt32LE(ref.idsBytes, 8)
  header.writeUInt32LE(ref.dataBytes, 12)
  header.writeUInt32LE(ref.rawBytes, 16)
  if (ref.messageBytes > 0) {
    header.writeUInt32LE(ref.messageBytes, 20)
    header.writeUInt32LE(ref.messageRawBytes, 24)
  }
  const at = header.length - CHECKSUM_BYTES
  header.writeUInt32LE(ref.idsChecksum, at)
  header.writeUInt32LE(ref.dataChecksum, at + 4)
  header.writeUInt32LE(ref.messagesChecksum, at + 8)
}

/** Reads the header of the block at `at` of `bytes`, which stand at `base` in the file. */
export function readBlockRef(bytes: Buffer, at: number, base: number, firstDoc: number): BlockRef {
  const flags = bytes.readUInt32LE(at + 4)
  const hasMessages = (flags & HAS_MESSAGES) !== 0
  const hasChecksums = (flags & HAS_CHECKSUMS) !== 0
  const length = headerBytes(hasMessages, hasChecksums)
  const checksum = (k: number) => (hasChecksums ? bytes.readUInt32LE(at + length - CHECKSUM_BYTES + 4 * k) : 0)
  return {
    firstDoc,
    docs: bytes.readUInt32LE(at),
    ...readFlags(flags),
    offset: base + at + length,
    idsBytes: bytes.readUInt32LE(at + 8),
    dataBytes: bytes.readUInt32LE(at + 12),
    rawBytes: bytes.readUInt32LE(at + 16),
    messageBytes: hasMessages ? bytes.readUInt32LE(at + 20) : 0,
    messageRawBytes: hasMessages ? bytes.readUInt32LE(at + 24) : 0,
    idsChecksum: checksum(0),
    dataChecksum: checksum(1),
    messagesChecksum: checksum(2),
  }
}

/** Lengths of the documents, then the documents, each without the message that stands apart. With messages the lengths are in planes. */
function layOut(documents: DocumentRows, from: number, to: number, hasMessages: boolean): Buffer {
  const docs = to - from
  const lengths = new Uint32Array(docs)
  let end = 4 * docs
  for (let k = 0; k < docs; k++) {
    lengths[k] = restLength(documents.document(from + k))
    end += lengths[k]!
  }
  const raw = Buffer.allocUnsafeSlow(end)
  if (hasMessages) writePlanes(lengths, raw, 0)
  else raw.set(new Uint8Array(lengths.buffer), 0)
  let at = 4 * docs
  for (let k = 0; k < docs; k++) {
    const { source, message } = documents.document(from + k)
    if (message === undefined) raw.set(source, at)
    else {
      raw.set(source.subarray(0, message.start), at)
      raw.set(source.subarray(message.end), at + message.start)
    }
    at += lengths[k]!
  }
  return raw
}

const restLength = ({ source, message }: StagedDocument) => source.length - (message === undefined ? 0 : message.end - message.start)

/** Reads `length` bytes of the file a block is in. */
type ReadAt = (length: number, position: number) => Buffer

/** Throws where a part of a block is not as it was written. */
function check(ref: BlockRef, part: 'ids' | 'documents' | 'messages', bytes: Uint8Array, checksum: number): void {
  if (ref.hasChecksums && crc32(bytes) !== checksum) throw new Error(`the checksum of the block's ${part} does not fit`)
}

/** Throws where the ids of a block are not as they were written. */
export const checkIds = (ref: BlockRef, ids: Uint8Array): void => check(ref, 'ids', ids, ref.idsChecksum)

export function readDocuments(ref: BlockRef, read: ReadAt): BlockDocuments {
  if (ref.areCut) {
    const bytes = read(ref.idsBytes + ref.dataBytes, ref.offset)
    const ids = bytes.subarray(0, ref.idsBytes)
    const data = bytes.subarray(ref.idsBytes)
    check(ref, 'ids', ids, ref.idsChecksum)
    check(ref, 'documents', data, ref.dataChecksum)
    return unpackDocuments(data, ref.docs, ids)
  }
  const data = read(ref.dataBytes, ref.offset + ref.idsBytes)
  check(ref, 'documents', data, ref.dataChecksum)
  return plainDocuments(ref.isCompressed ? decompress(data, ref.rawBytes) : data, ref.docs, ref.messageBytes > 0)
}

/** Undefined where the messages stand in the documents. */
export function readMessages(ref: BlockRef, read: ReadAt): BlockMessages | undefined {
  if (ref.messageBytes === 0) return undefined
  const data = read(ref.messageBytes, ref.offset + ref.idsBytes + ref.dataBytes)
  check(ref, 'messages', data, ref.messagesChecksum)
  if (ref.areMessagesCut) return new CutMessages(data, ref.docs, ref.messageRawBytes)
  return new PlainMessages(ref.areMessagesCompressed ? decompress(data, ref.messageRawBytes) : data, ref.docs)
}

function uuidsOf(documents: DocumentRows, from: number, to: number): Buffer {
  const ids = Buffer.allocUnsafeSlow(UUID_BYTES * (to - from))
  ids.set(documents.ids.subarray(documents.idStart(from), documents.idStart(to)))
  return ids
}

/** Per id a length (u16, bit 15: raw UUID), then all ids. */
function encodeMixedIds(documents: DocumentRows, from: number, to: number): Buffer {
  const lengths = Buffer.alloc(2 * (to - from))
  for (let k = from; k < to; k++) {
    const length = documents.idStart(k + 1) - documents.idStart(k)
    lengths.writeUInt16LE(length | (documents.isUuid(k) ? 0x8000 : 0), 2 * (k - from))
  }
  return Buffer.concat([lengths, documents.ids.subarray(documents.idStart(from), documents.idStart(to))])
}

/** Calls back with the place of each id in `ids`, in order. */
export function forEachId(ref: BlockRef, ids: Buffer, visit: (k: number, start: number, end: number, isUuid: boolean) => void): void {
  let at = ref.areUuids ? 0 : 2 * ref.docs
  for (let k = 0; k < ref.docs; k++) {
    const word = ref.areUuids ? 0x8010 : ids.readUInt16LE(2 * k)
    const end = at + (word & 0x7fff)
    visit(k, at, end, word >= 0x8000)
    at = end
  }
}

export function idAt(ref: BlockRef, ids: Buffer, k: number): StoredId {
  if (ref.areUuids) return { bytes: ids.subarray(16 * k, 16 * k + 16), isUuid: true }
  let found: StoredId | undefined
  forEachId(ref, ids, (index, start, end, isUuid) => {
    if (index === k) found = { bytes: ids.subarray(start, end), isUuid }
  })
  return found!
}
