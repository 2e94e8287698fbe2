/** The heads of elements of `resourceLogs`, up to the first record: a sender repeats the same bytes with each request, however few its records are. */
import { Buffer } from 'node:buffer'
import { NOWHERE, startsWith } from '../../../../json/bytes.ts'
import { countedFrom, type Range } from '../../../../json/rough.ts'
import { KnownBytes } from '../../../../memory/known-bytes.ts'
import { contextAt, type RecordContext } from './record-context.ts'

/** A head that has been read before. Places are counted from its start. */
export interface KnownHead {
  readonly length: number
  readonly resource: Range | undefined
  readonly scope: Range | undefined
  readonly context: RecordContext
}

/** The same where it was read. */
export interface ReadHead extends Omit<KnownHead, 'length'> {
  readonly start: number
  readonly tenant: string
}

const LIST_NAME = Buffer.from('"logRecords":[')
const LAST_AT = LIST_NAME.length - 1
const OPENS_LIST = LIST_NAME[LAST_AT]!
/** By a byte that stands where the last one of the name might: how far on the name may end (Horspool). */
const STEPS = new Uint8Array(256).fill(LIST_NAME.length)
for (let i = 0; i < LAST_AT; i++) STEPS[LIST_NAME[i]!] = LAST_AT - i
/** Longer ones are not worth remembering. */
const MAX_HEAD_BYTES = 4 * 1024
/** Memory of a head beside its bytes and its context. */
const HEAD_BYTES = 150
/** Memory of all heads with their contexts: those of twenty thousand senders. */
export const MAX_BYTES_OF_ALL = 41_943_040

/** Heads by their bytes: a known one is not parsed again. */
export class KnownHeads {
  readonly #b: Buffer
  readonly #view: DataView
  readonly #heads = new KnownBytes<KnownHead>(MAX_BYTES_OF_ALL)

  /** `b`: where messages are read. */
  constructor(b: Buffer) {
    this.#b = b
    this.#view = new DataView(b.buffer, b.byteOffset, b.length)
  }

  /** The head of the element that starts at `from`; undefined where it is not known. */
  find(from: number, tenant: string): KnownHead | undefined {
    const end = this.endOf(from)
    return end === NOWHERE ? undefined : this.#heads.find(this.#view, from, end, tenant)
  }

  /** The context has a copy of its bytes here. */
  add({ start, tenant, resource, scope, context }: ReadHead): void {
    const end = this.endOf(start)
    if (end === NOWHERE) return
    const { memory, start: sharedAt, foldedEnd } = context.shared
    this.#heads.add(this.#view, start, end, tenant, {
      bytes: memory.subarray(sharedAt, sharedAt + foldedEnd),
      heldBytes: HEAD_BYTES + context.heldBytes,
      valueAt: place => ({
        length: end - start,
        resource: countedFrom(resource, start),
        scope: countedFrom(scope, start),
        context: contextAt(context, place.memory, place.start),
      }),
    })
  }

  /** Behind the first list of the name `logRecords`, spelled as the collector does; `NOWHERE` where there is none nearby. */
  endOf(from: number): number {
    const b = this.#b
    const limit = Math.min(b.length, from + MAX_HEAD_BYTES)
    for (let last = from + LAST_AT; last < limit; last += STEPS[b[last]!]!)
      if (b[last] === OPENS_LIST && startsWith(b, last - LAST_AT, LIST_NAME)) return last + 1
    return NOWHERE
  }
}
