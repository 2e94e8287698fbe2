/** Bytes that remembering a tail takes, beside those of the tail itself. */
const ENTRY_BYTES = 200
/** Bytes of all remembered tails and their results. */
const MAX_KNOWN_BYTES = 4_194_304
/** A tail is worked out anew after this many uses, since the rules for it may have changed. */
const MAX_USES = 1_000

interface Entry {
  readonly scope: string
  readonly tail: Buffer
  readonly becomes: Buffer
  usesLeft: number
}

/**
 * Remembers what the attributes of a record became in its document. Records of one resource often end in the same bytes, however long, and copying the
 * result costs a fraction of making it anew. One tail of each length is known.
 */
export class KnownTails {
  readonly #byLength = new Map<number, Entry>()
  #bytes = 0

  get isEmpty(): boolean {
    return this.#byLength.size === 0
  }

  /** The result of the same bytes in the same scope; undefined where it is not known. */
  find(scope: string, tail: Buffer): Buffer | undefined {
    const entry = this.#byLength.get(tail.length)
    if (entry === undefined || entry.scope !== scope || !entry.tail.equals(tail)) return undefined
    if (--entry.usesLeft === 0) this.#forget(tail.length)
    return entry.becomes
  }

  /** Copies both. */
  remember(scope: string, tail: Buffer, becomes: Buffer): void {
    this.#forget(tail.length)
    const entry = { scope, tail: Buffer.from(tail), becomes: Buffer.from(becomes), usesLeft: MAX_USES }
    this.#byLength.set(tail.length, entry)
    this.#bytes += sizeOf(entry)
    while (this.#bytes > MAX_KNOWN_BYTES) this.#forget(this.#byLength.keys().next().value!)
  }

  clear(): void {
    this.#byLength.clear()
    this.#bytes = 0
  }

  #forget(length: number): void {
    const entry = this.#byLength.get(length)
    if (entry === undefined) return
    this.#byLength.delete(length)
    this.#bytes -= sizeOf(entry)
  }
}

const sizeOf = ({ tail, becomes }: Entry) => ENTRY_BYTES + tail.length + becomes.length
