/** The memory in which a message and its records are worked on. */
import { MAX_BUS_MESSAGE_BYTES } from '../../../../contract/topics.ts'

/** Larger records are few and go the plain way, as do those whose resource and scope come to more in a flat record. */
export const MAX_RECORD_BYTES = 16 * 1024
export const MAX_CONTEXT_BYTES = 64 * 1024

/** Numbers that are written otherwise, one for each of `MAX_KEYS`. */
const SIDE_BYTES = 64 * 64
const NAME_BYTES = 256
/** Bytes are moved by fours: up to three more than there are. */
const SPARE_BYTES = 4
const CONTENT_BYTES = 4 * MAX_RECORD_BYTES + SPARE_BYTES
/** The digests of a context stand before its members. */
const DIGESTS_BYTES = 128
const SHARED_BYTES = DIGESTS_BYTES + MAX_CONTEXT_BYTES + SPARE_BYTES
const OUTPUT_BYTES = MAX_CONTEXT_BYTES + 5 * MAX_RECORD_BYTES + SPARE_BYTES

/** Where in the area texts stand that are not in the message as they are needed, the name of a log id, the content of a document id, what records share, the flat record. */
export const SIDE_AT = 0
export const NAME_AT = SIDE_AT + SIDE_BYTES
export const CONTENT_AT = NAME_AT + NAME_BYTES
export const SHARED_AT = CONTENT_AT + CONTENT_BYTES
export const OUTPUT_AT = SHARED_AT + SHARED_BYTES
/** A 0, and as many as a look at eight bytes may go beyond. */
const BEHIND_BYTES = 8
const MESSAGE_AT = OUTPUT_AT + OUTPUT_BYTES

/**
 * One allocation for a message and all that is made of one of its records. Bytes are moved within it in 18 ns, however many; from one buffer to another
 * takes twice that, and a view each (measured). The part that is never used takes no memory.
 */
export class WorkArea {
  readonly bytes = Buffer.allocUnsafeSlow(MESSAGE_AT + MAX_BUS_MESSAGE_BYTES + BEHIND_BYTES)
  messageEnd = MESSAGE_AT

  /** Where the message starts now, a 0 being behind it; undefined when it does not fit. */
  load(message: Uint8Array): number | undefined {
    if (message.length > MAX_BUS_MESSAGE_BYTES) return undefined
    this.bytes.set(message, MESSAGE_AT)
    this.messageEnd = MESSAGE_AT + message.length
    this.bytes[this.messageEnd] = 0
    return MESSAGE_AT
  }
}

/** Longer views are not remembered. */
const MAX_VIEW_BYTES = 4_096

/** Views onto the area from one place on; those of a length are made once. */
export class Views {
  readonly #bytes: Buffer
  readonly #at: number
  readonly #byLength: (Buffer | undefined)[] = new Array(MAX_VIEW_BYTES + 1).fill(undefined)

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  until(end: number): Buffer {
    const length = end - this.#at
    if (length > MAX_VIEW_BYTES) return this.#bytes.subarray(this.#at, end)
    this.#byLength[length] ??= this.#bytes.subarray(this.#at, end)
    return this.#byLength[length]
  }
}
