/** Seals the tail: when it is full, at rest, at a stop. */
import type { HeldSegments } from './held-segments.ts'
import { MAX_COMMIT_OPS } from './ingest/commit-queue.ts'
import type { SavedList } from './saved-list.ts'
import { MAX_SEGMENT_DOCS } from './tail/tail.ts'
import { unlessOfSystem } from './unless-of-system.ts'

/** The tail is sealed when it could not take another full commit, or at this size. */
const SEAL_DOCS = MAX_SEGMENT_DOCS - MAX_COMMIT_OPS
const SEAL_BYTES = 1 << 30
/**
 * The tail is also sealed when its index takes so much memory, bytes. The store and the query process hold an index each, and the query process
 * makes its own anew after a start.
 */
const MAX_TAIL_INDEX_BYTES = 48 * 1024 * 1024
const SEAL_ON_CLOSE_DOCS = 8192
/** A tail of half a segment is sealed when nobody writes for a while: pauses make at most twice as many segments. */
const SEAL_AT_REST_DOCS = SEAL_DOCS / 2

export class TailSealing {
  readonly #held: HeldSegments
  readonly #list: SavedList

  constructor(held: HeldSegments, list: SavedList) {
    this.#held = held
    this.#list = list
  }

  /** Seals the tail when it could not take `count` more documents; throws when it cannot be sealed. */
  async makeRoom(count: number): Promise<void> {
    if (this.#held.tail.count + count > MAX_SEGMENT_DOCS || this.#held.tail.end >= 2 * SEAL_BYTES) await this.#sealTail()
  }

  /** Seals a full tail. A full disk does not fail the batch, which is durable: the next batch that finds no room reports the full disk. */
  async sealWhenFull(): Promise<void> {
    const { count, end, memoryBytes } = this.#held.tail
    if (count > SEAL_DOCS || end >= SEAL_BYTES || memoryBytes >= MAX_TAIL_INDEX_BYTES) await this.#sealTail().catch(unlessOfSystem)
  }

  async seal(): Promise<void> {
    if (this.#held.tail.count > 0) await this.#sealTail()
  }

  /** A sealed tail takes half of the disk, and queries read it as it is. */
  async sealAtRest(): Promise<void> {
    if (this.#held.tail.count >= SEAL_AT_REST_DOCS) await this.#sealTail().catch(unlessOfSystem)
  }

  /** A short tail is not worth a segment: it is replayed at the next start, which is to find all of it. */
  async sealForClose(): Promise<void> {
    if (this.#held.tail.count >= SEAL_ON_CLOSE_DOCS) await this.#sealTail().catch(unlessOfSystem)
    this.#list.saveIfChanged()
  }

  /** Everything that can fail comes first: when this throws, the tail is as it was. */
  async #sealTail(): Promise<void> {
    const held = this.#held
    const number = held.nextNumber++
    const file = held.files.create(number)
    // After a full tail another one is likely.
    const expectedTerms = held.tail.count > SEAL_DOCS ? held.tail.index.terms.size : 0
    try {
      await this.sealReplayed()
    } catch (error) {
      file.close()
      held.files.remove(number)
      throw error
    }
    held.beginTail(number, file, expectedTerms)
  }

  /** Seals the tail, behind which another one must follow. */
  async sealReplayed(): Promise<void> {
    const { files, sealed, tail, nextSeqNo, log } = this.#held
    files.saveDead([...sealed, tail])
    this.#held.sealTailAs(await files.seal(tail, nextSeqNo, log, bytes => this.#list.saveSealing(bytes)))
  }
}
