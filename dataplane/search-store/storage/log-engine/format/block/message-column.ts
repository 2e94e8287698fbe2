/** The messages of a block, which stand apart from its documents. */
import { NOWHERE } from '../../../../../json/bytes.ts'
import { copyInWords } from '../../../../../json/words.ts'
import { releaseBytes } from '../../../../../memory/release-bytes.ts'
import { PLANED_BYTES, readPlanes, writePlanes } from '../bytes/byte-planes.ts'
import type { DocumentRows } from '../document-rows.ts'
import type { MessageSpan } from './message-span.ts'

/**
 * The top-level member whose text stands apart in a block, in a frame of its own: queries that must look at the words of many
 * documents unpack an eighth of the bytes so.
 */
export const MESSAGE_MEMBER = 'message'

/** Per document where the message stood (0: the document has none that stands apart) and its length, in planes; then all messages. */
export function layOutMessages(documents: DocumentRows, from: number, to: number): Buffer {
  const docs = to - from
  const starts = new Uint32Array(docs)
  const lengths = new Uint32Array(docs)
  let end = headBytes(docs)
  for (let k = 0; k < docs; k++) {
    const start = documents.messageStart(from + k)
    if (start === NOWHERE) continue
    starts[k] = start
    lengths[k] = documents.messageEnd(from + k) - start
    end += lengths[k]!
  }
  const raw = Buffer.allocUnsafeSlow(end)
  writePlanes(starts, raw, 0)
  writePlanes(lengths, raw, PLANED_BYTES * docs)
  const out = new DataView(raw.buffer, raw.byteOffset, end)
  let at = headBytes(docs)
  let memory: Uint8Array = NO_MEMORY
  let view = new DataView(memory.buffer)
  for (let k = 0; k < docs; k++) {
    if (lengths[k] === 0) continue
    // Neighbours mostly share their memory, and its view.
    if (documents.memory(from + k) !== memory) {
      memory = documents.memory(from + k)
      view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength)
    }
    const start = documents.start(from + k) + starts[k]!
    const length = lengths[k]!
    if (length > LONG_MESSAGE_BYTES) raw.set(memory.subarray(start, start + length), at)
    else copyInWords(view, start, start + length, out, at)
    at += length
  }
  return raw
}

const NO_MEMORY = new Uint8Array(0)
/** A copy by the runtime needs a view of the bytes, which is garbage. */
const LONG_MESSAGE_BYTES = 512

/** Bytes in front of the messages of so many documents. */
export const headBytes = (docs: number) => 2 * PLANED_BYTES * docs

/** The messages of an unpacked block. */
export interface BlockMessages {
  readonly sizeBytes: number
  /** JSON text without its quotes; undefined where the document has none that stands apart. */
  get(k: number): Buffer | undefined
  span(k: number): MessageSpan | undefined
  /** The whole document, out of `rest`, the document without its message. */
  restore(k: number, rest: Buffer): Buffer
  /** Gives the memory back; nothing can be read any more. */
  release(): void
}

/** Messages as `layOutMessages` has them. */
export class PlainMessages implements BlockMessages {
  readonly #raw: Buffer
  readonly #starts: Uint32Array
  readonly #lengths: Uint32Array
  /** Where each begins in `raw`. */
  readonly #places: Uint32Array

  constructor(raw: Buffer, docs: number) {
    this.#raw = raw
    this.#starts = readPlanes(raw, 0, docs)
    this.#lengths = readPlanes(raw, PLANED_BYTES * docs, docs)
    this.#places = new Uint32Array(docs)
    let at = headBytes(docs)
    for (let k = 0; k < docs; k++) {
      this.#places[k] = at
      at += this.#lengths[k]!
    }
  }

  get sizeBytes(): number {
    return this.#raw.length + 12 * this.#starts.length + 300
  }

  release(): void {
    releaseBytes(this.#raw)
  }

  get(k: number): Buffer | undefined {
    if (this.#starts[k] === 0) return undefined
    const at = this.#places[k]!
    return this.#raw.subarray(at, at + this.#lengths[k]!)
  }

  span(k: number): MessageSpan | undefined {
    const start = this.#starts[k]!
    return start === 0 ? undefined : { start, end: start + this.#lengths[k]! }
  }

  restore(k: number, rest: Buffer): Buffer {
    const message = this.get(k)
    return message === undefined ? rest : withMessage(rest, message, this.#starts[k]!)
  }
}

/** A document with its message at `start`. */
export function withMessage(rest: Buffer, message: Buffer, start: number): Buffer {
  const source = Buffer.allocUnsafe(rest.length + message.length)
  rest.copy(source, 0, 0, start)
  message.copy(source, start)
  rest.copy(source, start + message.length, start)
  return source
}
