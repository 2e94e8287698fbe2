/** Remembers how log records stand in JSON, so that a further one of the same form is read by its values alone. */
import { QUOTE } from '../../../../json/bytes.ts'
import { type KeyList, MAX_KEYS } from './attribute-keys.ts'

/** Kinds of values in a record; `end` is none, the record being over. */
export const Slot = {
  end: 0,
  time: 1,
  observedTime: 2,
  message: 3,
  traceId: 4,
  spanId: 5,
  /** A number that nobody reads. */
  skipped: 6,
  text: 7,
  quotedInteger: 8,
  integer: 9,
  double: 10,
  boolean: 11,
} as const
export type Slot = (typeof Slot)[keyof typeof Slot]

/** Values of a record's own beside its attributes. */
const OWN_SLOTS = 8

/** The values of a record in their order, as they were found. */
export class FoundSlots {
  readonly kinds = new Uint8Array(MAX_KEYS + OWN_SLOTS)
  readonly starts = new Int32Array(MAX_KEYS + OWN_SLOTS)
  readonly ends = new Int32Array(MAX_KEYS + OWN_SLOTS)
  count = 0

  add(slot: Slot, start: number, end: number): void {
    this.kinds[this.count] = slot
    this.starts[this.count] = start
    this.ends[this.count++] = end
  }
}

/** Bytes of a text between two values, and what is read in them. */
export interface GlueContent {
  readonly slot: Slot
  /** All attribute keys, where the record ends; undefined before. */
  readonly list: KeyList | undefined
  /** Undefined where it is not in these bytes. */
  readonly severityNumber: number | undefined
  /** From the start of the bytes; `severityAt` is negative where the text is not in them. */
  readonly severityAt: number
  readonly severityLength: number
}

/** All bytes from one value to the next. The kind of the next value is known then, and so are all fields before it. */
export class Glue {
  readonly length: number
  readonly content: GlueContent
  readonly next: Glue[] = []
  /** The bytes by fours, the last of them as far as they go. */
  readonly #words: Int32Array
  readonly #lastMask: number
  readonly #isOpenInteger: boolean

  constructor(bytes: Uint8Array, content: GlueContent) {
    this.length = bytes.length
    this.content = content
    this.#isOpenInteger = content.slot === Slot.integer
    const words = Math.ceil(bytes.length / 4)
    const padded = new DataView(new ArrayBuffer(4 * words))
    for (let i = 0; i < bytes.length; i++) padded.setUint8(i, bytes[i]!)
    this.#words = Int32Array.from({ length: words }, (_, i) => padded.getInt32(4 * i, true))
    this.#lastMask = -1 >>> (8 * (4 * words - bytes.length))
  }

  /** There are three more bytes behind those that are compared. */
  standsAt(view: DataView, at: number): boolean {
    const words = this.#words
    const last = words.length - 1
    for (let i = 0; i < last; i++) if (view.getInt32(at + 4 * i, true) !== words[i]) return false
    if (((view.getInt32(at + 4 * last, true) ^ words[last]!) & this.#lastMask) !== 0) return false
    // The same text and a quote is another one: that of integers as strings.
    return !this.#isOpenInteger || view.getUint8(at + this.length) !== QUOTE
  }
}

/** Bytes of all texts together, and how many may follow one. */
const MAX_TEMPLATE_BYTES = 1_048_576
const MAX_NEXT = 32
/** Beside its bytes. */
const GLUE_BYTES = 300
/** Where forms do not come again, few records are looked up and fewer remembered. */
const MAX_CREDIT = 64
const PAUSE = 512

/** The forms of records as a tree: after each value the texts that followed there before. */
export class RecordTemplates {
  #first: Glue[] = []
  #bytes = 0
  /** Records that may still be remembered though none of them is met again. */
  #credit = MAX_CREDIT
  /** Records that are not looked up. */
  #pause = 0

  /** The texts that a record may begin with; undefined while it does not pay to look. */
  start(): Glue[] | undefined {
    if (this.#pause === 0) return this.#first
    this.#pause--
    return undefined
  }

  /** A record had a form that was known. */
  found(): void {
    if (this.#credit < MAX_CREDIT) this.#credit++
  }

  /** Whether a record whose form was not known is to be remembered. */
  mayLearn(): boolean {
    if (this.#pause > 0) return false
    if (--this.#credit > 0) return true
    this.#credit = MAX_CREDIT / 4
    this.#pause = PAUSE
    return false
  }

  /** The texts to add those to that follow `before`, by default those that begin a record. */
  after(before: Glue | undefined): Glue[] {
    return before?.next ?? this.#first
  }

  /** Undefined where there is no room beside the others. */
  add(siblings: Glue[], bytes: Uint8Array, content: GlueContent): Glue | undefined {
    if (siblings.length === MAX_NEXT) return undefined
    this.#bytes += bytes.length + GLUE_BYTES
    if (this.#bytes > MAX_TEMPLATE_BYTES) {
      this.#first = []
      this.#bytes = 0
      return undefined
    }
    const added = new Glue(bytes, content)
    siblings.push(added)
    return added
  }
}

/** The one of some texts that stands at a place, and is of this length; it moves to the front by one. */
export function glueAt(texts: Glue[], view: DataView, at: number, length = 0): Glue | undefined {
  for (let i = 0; i < texts.length; i++) {
    const found = texts[i]!
    if (!found.standsAt(view, at) || (length !== 0 && found.length !== length)) continue
    if (i > 0) {
      texts[i] = texts[i - 1]!
      texts[i - 1] = found
    }
    return found
  }
  return undefined
}
