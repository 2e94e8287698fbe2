/** The heads of elements of `resourceLogs`, up to the first record: a sender repeats the same bytes with each request, however few its records are. */
import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { startsWith } from '../../../../json/bytes.ts'
import { countedFrom, type Range } from '../../../../json/rough.ts'
import type { RecordContext } from './record-context.ts'

/** A head that has been read before. Places are counted from its start. */
export interface KnownHead {
  readonly bytes: Uint8Array
  readonly resource: Range | undefined
  readonly scope: Range | undefined
  readonly context: RecordContext
  readonly tenant: string
}

/** The same where it was read. */
export interface ReadHead extends Omit<KnownHead, 'bytes'> {
  readonly start: number
  /** Behind the `[` of the records. */
  readonly end: number
}

const LIST_NAME = Buffer.from('"logRecords":[')
const LAST_AT = LIST_NAME.length - 1
const OPENS_LIST = LIST_NAME[LAST_AT]!
/** By a byte that stands where the last one of the name might: how far on the name may end (Horspool). */
const STEPS = new Uint8Array(256).fill(LIST_NAME.length)
for (let i = 0; i < LAST_AT; i++) STEPS[LIST_NAME[i]!] = LAST_AT - i
/** Longer ones are not worth remembering. */
const MAX_HEAD_BYTES = 4 * 1024
/** Memory of a head and its place in the table, beside its bytes and its context, which is counted elsewhere. */
const ENTRY_BYTES = 300
const MAX_BYTES_OF_ALL = 8 * 1024 * 1024

/** Heads by their bytes: a known one is not parsed again. All are forgotten where they take too much memory. */
export class KnownHeads {
  readonly #b: Buffer
  /** By their checksum: 700 bytes as the key of a Map take four times as long (measured). Of two with the same one the last is known. */
  readonly #heads = new Map<number, KnownHead>()
  #bytes = 0

  /** `b`: where messages are read. */
  constructor(b: Buffer) {
    this.#b = b
  }

  /** The head of the element that starts at `from`; undefined where it was not seen yet. */
  find(from: number, tenant: string): KnownHead | undefined {
    const bytes = this.#bytesAt(from)
    const known = bytes && this.#heads.get(keyOf(bytes))
    return known?.tenant === tenant && bytes!.equals(known.bytes) ? known : undefined
  }

  add({ start, end, ...head }: ReadHead): void {
    const bytes = this.#bytesAt(start)
    if (bytes?.length !== end - start) return
    const key = keyOf(bytes)
    this.#bytes += bytes.length + ENTRY_BYTES - this.#sizeOf(this.#heads.get(key))
    if (this.#bytes > MAX_BYTES_OF_ALL) {
      this.clear()
      this.#bytes = bytes.length + ENTRY_BYTES
    }
    this.#heads.set(key, {
      ...head,
      bytes: Buffer.from(bytes),
      resource: countedFrom(head.resource, start),
      scope: countedFrom(head.scope, start),
    })
  }

  clear(): void {
    this.#heads.clear()
    this.#bytes = 0
  }

  /** As far as the first list of the name `logRecords`, spelled as the collector does; undefined where there is none nearby. */
  #bytesAt(from: number): Buffer | undefined {
    const b = this.#b
    const limit = Math.min(b.length, from + MAX_HEAD_BYTES)
    for (let last = from + LAST_AT; last < limit; last += STEPS[b[last]!]!)
      if (b[last] === OPENS_LIST && startsWith(b, last - LAST_AT, LIST_NAME)) return b.subarray(from, last + 1)
    return undefined
  }

  #sizeOf(known: KnownHead | undefined): number {
    return known === undefined ? 0 : known.bytes.length + ENTRY_BYTES
  }
}

/** 32 bits, in the range of small integers. */
function keyOf(bytes: Buffer): number {
  return crc32(bytes) | 0
}
