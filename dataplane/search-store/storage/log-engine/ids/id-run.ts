/**
 * A run of ids: a file `N.ids` that says where the ids of some sealed segments are, in the order of their hashes. It follows from the segments: a run
 * that is lost or damaged is made again.
 */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { firstAtLeast } from '../../../first-at-least.ts'
import type { IndexFiles } from '../format/index-files.ts'
import { SegmentFile } from '../format/segment-file.ts'
import { DocumentTimes, type StoredTimes } from './document-times.ts'

/** A sealed segment as runs name it. A number alone may be given to another segment, after a start. */
export interface SegmentIdentity {
  readonly number: number
  readonly firstSeqNo: number
  readonly docs: number
}

/** A text that no other segment has. */
export const segmentKey = ({ number, firstSeqNo, docs }: SegmentIdentity): string => `${number} ${firstSeqNo} ${docs}`

/** The segments of a run. */
export interface RunContent {
  /** By slot: entries name them so. */
  readonly segments: readonly SegmentIdentity[]
  /** Times of all documents, where their ids tell them; undefined where some ids do not. */
  readonly times: DocumentTimes | undefined
  /** Numbers of the runs that this one took the place of. */
  readonly replaces: readonly number[]
}

interface StoredContent {
  readonly segments: readonly (readonly [number: number, firstSeqNo: number, docs: number])[]
  readonly times?: StoredTimes
  readonly replaces: readonly number[]
}

/** Two words an entry: the hash, and `slot · 65,536 + document`. */
const ENTRY_BYTES = 8
/** Entries that a look-up reads: a disk gives 4 KiB at once. */
const PAGE_ENTRIES = 512
/** Entries that are read at once where all are. */
const CHUNK_ENTRIES = 8192
const MAGIC = 0x53444951
const FOOTER_BYTES = 28

export const runPath = (dir: string, number: number) => join(dir, `${String(number).padStart(8, '0')}.ids`)
export const IS_RUN = /^\d+\.ids$/

export class IdRun {
  readonly number: number
  readonly content: RunContent
  /** Number of its entries. */
  readonly count: number
  readonly sizeBytes: number
  readonly #file: SegmentFile
  /** The first hash of each page. */
  readonly #fences: Uint32Array
  /** The page that was read last: whether there is an id is asked before where. */
  #page: { readonly number: number; readonly words: Uint32Array } | undefined

  private constructor(number: number, file: SegmentFile, sizeBytes: number, count: number, fences: Uint32Array, content: RunContent) {
    this.number = number
    this.#file = file
    this.sizeBytes = sizeBytes
    this.count = count
    this.#fences = fences
    this.content = content
  }

  /** Undefined when the file is no whole run. */
  static open(number: number, file: SegmentFile): IdRun | undefined {
    const { sizeBytes } = file
    if (sizeBytes < FOOTER_BYTES) return undefined
    const footer = file.read(FOOTER_BYTES, sizeBytes - FOOTER_BYTES)
    if (footer.readUInt32LE(0) !== MAGIC || footer.readUInt32LE(24) !== crc32(footer.subarray(0, 24))) return undefined
    const count = footer.readDoubleLE(8)
    const fenceBytes = 4 * Math.ceil(count / PAGE_ENTRIES)
    const at = ENTRY_BYTES * count
    const rest = file.read(sizeBytes - FOOTER_BYTES - at, at)
    if (crc32(rest) !== footer.readUInt32LE(4)) return undefined
    const { segments, times, replaces } = JSON.parse(rest.toString('utf8', fenceBytes)) as StoredContent
    return new IdRun(number, file, sizeBytes, count, new Uint32Array(rest.buffer.slice(0, fenceBytes)), {
      segments: segments.map(([number, firstSeqNo, docs]) => ({ number, firstSeqNo, docs })),
      times: times && DocumentTimes.of(times),
      replaces,
    })
  }

  /** Bytes in memory. */
  get memoryBytes(): number {
    return this.#fences.byteLength + 32 * this.content.segments.length + (this.content.times?.sizeBytes ?? 0)
  }

  /** Whether `isIt` confirms any entry with this hash. */
  some(hash: number, isIt: (slot: number, doc: number) => boolean): boolean {
    const key = hash >>> 0
    const fences = this.#fences
    for (let page = Math.max(0, firstAtLeast(fences, key) - 1); page < fences.length && fences[page]! <= key; page++) {
      const words = this.#wordsOf(page)
      let at = firstEntry(words, key)
      for (; at < words.length && words[at] === key; at += 2) if (isIt(words[at + 1]! >>> 16, words[at + 1]! & 0xffff)) return true
      if (at < words.length) return false
    }
    return false
  }

  /** All entries in order, piece by piece. */
  *pieces(): Generator<Uint32Array, void, undefined> {
    for (let from = 0; from < this.count; from += CHUNK_ENTRIES) yield this.#read(from, CHUNK_ENTRIES)
  }

  #wordsOf(page: number): Uint32Array {
    if (this.#page?.number !== page) this.#page = { number: page, words: this.#read(page * PAGE_ENTRIES, PAGE_ENTRIES) }
    return this.#page.words
  }

  #read(from: number, most: number): Uint32Array {
    const bytes = this.#file.read(ENTRY_BYTES * Math.min(most, this.count - from), ENTRY_BYTES * from)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
  }

  close(): void {
    this.#file.close()
  }
}

/** The place of the first entry whose hash is at least `key`. */
function firstEntry(words: Uint32Array, key: number): number {
  let low = 0
  let high = words.length >>> 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (words[2 * middle]! < key) low = middle + 1
    else high = middle
  }
  return 2 * low
}

/** Writes a run beside the others; it is one of them once it is finished. */
export class IdRunWriter {
  readonly #files: IndexFiles
  readonly #dir: string
  readonly #number: number
  readonly #file: SegmentFile
  #fences: number[] = []
  #count = 0

  constructor(files: IndexFiles, dir: string, number: number) {
    this.#files = files
    this.#dir = dir
    this.#number = number
    files.remove(this.#draft)
    this.#file = new SegmentFile(files, this.#draft)
  }

  get #draft(): string {
    return `${runPath(this.#dir, this.#number)}.tmp`
  }

  /** Adds entries, which come in the order of their hashes. */
  async append(words: Uint32Array): Promise<void> {
    const first = this.#count % PAGE_ENTRIES === 0 ? 0 : PAGE_ENTRIES - (this.#count % PAGE_ENTRIES)
    for (let at = 2 * first; at < words.length; at += 2 * PAGE_ENTRIES) this.#fences.push(words[at]!)
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
    await this.#file.write(bytes, ENTRY_BYTES * this.#count)
    this.#count += words.length >>> 1
  }

  /** Durable when it resolves. */
  async finish({ segments, times, replaces }: RunContent): Promise<IdRun> {
    const content: StoredContent = {
      segments: segments.map(({ number, firstSeqNo, docs }) => [number, firstSeqNo, docs]),
      ...(times !== undefined && { times: times.toStored() }),
      replaces,
    }
    const rest = Buffer.concat([new Uint8Array(Uint32Array.from(this.#fences).buffer), Buffer.from(JSON.stringify(content))])
    const footer = Buffer.alloc(FOOTER_BYTES)
    footer.writeUInt32LE(MAGIC, 0)
    footer.writeUInt32LE(crc32(rest), 4)
    footer.writeDoubleLE(this.#count, 8)
    footer.writeUInt32LE(crc32(footer.subarray(0, 24)), 24)
    await this.#file.append(Buffer.concat([rest, footer]), ENTRY_BYTES * this.#count)
    this.#files.rename(this.#draft, runPath(this.#dir, this.#number))
    this.#files.syncDirectory(this.#dir)
    const run = IdRun.open(this.#number, this.#file)
    if (run === undefined) throw new Error(`${runPath(this.#dir, this.#number)} has no footer after it was written`)
    return run
  }

  /** Takes back what was written, also where it has its name already. */
  abandon(): void {
    this.#file.close()
    for (const path of [this.#draft, runPath(this.#dir, this.#number)]) this.#files.remove(path)
  }
}
