/** Memory for answers between their making and the last byte that their clients read: what one takes the others cannot have. */
import { largestSource } from '../../../limits/largest-source.ts'
import { ApiError, tryLater } from '../../api-error.ts'
import { type MemoryLease, MemoryPool } from '../../memory-pool.ts'
import type { ReadingPace } from './reading-pace.ts'

/** Memory of all answers, those of queries and others, bytes; small answers are not counted. */
export const MAX_HELD_ANSWER_BYTES = 128 * 1024 * 1024
/** A client that takes longer for a part of its answer (`MIN_READ_BYTES`), ms, is slow. */
const SLOW_READER_MS = 5_000
/** The same where the answer is for an address that has much less of the memory, with what is asked for. */
const SLOW_READER_OF_MANY_MS = 500

/** The client that an answer goes out to. */
export interface AnswerReader {
  readonly pace: ReadingPace
  /** Ends the connection. */
  cut(): void
}

/** Where there is no room for an answer, clients that read theirs slowly lose them, the slowest first. */
export class HeldAnswers {
  readonly #pool: MemoryPool
  readonly #readers = new Map<AnswerReader, { readonly lease: MemoryLease; readonly source: string | undefined }>()

  constructor(maxBytes: number = MAX_HELD_ANSWER_BYTES) {
    this.#pool = new MemoryPool(maxBytes)
  }

  get usedBytes(): number {
    return this.#pool.usedBytes
  }

  /** `source`: where the request comes from, such as an address; absent: nothing is known of that. */
  lease(source?: string): AnswerLease {
    return new AnswerLease(this, this.#pool.lease(), source)
  }

  add(reader: AnswerReader, lease: MemoryLease, source: string | undefined): void {
    this.#readers.set(reader, { lease, source })
  }

  remove(reader: AnswerReader): void {
    this.#readers.delete(reader)
  }

  /** Whether there was one that holds memory. `bytes`: which the asking answer has then, from the source. */
  cutSlowest(bytes: number, source: string | undefined): boolean {
    const slowest = this.#slowest(() => true, SLOW_READER_MS) ?? this.#ofLargestSource(bytes, source)
    if (slowest === undefined) return false
    this.#readers.get(slowest)!.lease.release()
    this.#readers.delete(slowest)
    slowest.cut()
    return true
  }

  #slowest(counts: (source: string | undefined) => boolean, afterMs: number): AnswerReader | undefined {
    let slowest: AnswerReader | undefined
    let waitMs = afterMs
    for (const [reader, { lease, source }] of this.#readers) {
      const ms = reader.pace.waitMs()
      if (ms < waitMs || lease.heldBytes === 0 || !counts(source)) continue
      slowest = reader
      waitMs = ms
    }
    return slowest
  }

  #ofLargestSource(bytes: number, asking: string | undefined): AnswerReader | undefined {
    const holders = Array.from(this.#readers.values(), ({ lease: { heldBytes }, source }) => ({ source, heldBytes }))
    const largest = largestSource(holders, asking, bytes)
    return largest === undefined ? undefined : this.#slowest(source => source === largest, SLOW_READER_OF_MANY_MS)
  }
}

/** The memory of one answer. */
export class AnswerLease implements MemoryLease {
  readonly #answers: HeldAnswers
  readonly #lease: MemoryLease
  readonly #source: string | undefined

  constructor(answers: HeldAnswers, lease: MemoryLease, source: string | undefined) {
    this.#answers = answers
    this.#lease = lease
    this.#source = source
  }

  get heldBytes(): number {
    return this.#lease.heldBytes
  }

  take(bytes: number): boolean {
    while (!this.#lease.take(bytes)) if (!this.#answers.cutSlowest(this.#lease.heldBytes + bytes, this.#source)) return false
    return true
  }

  giveBack(bytes: number): void {
    this.#lease.giveBack(bytes)
  }

  release(): void {
    this.#lease.release()
  }

  /** The answer goes out to this client from here on; to be called back once the client is gone, or has all of it. */
  readBy(reader: AnswerReader): () => void {
    this.#answers.add(reader, this.#lease, this.#source)
    return () => this.#answers.remove(reader)
  }
}

/** The same request may find room in a second. */
export function noRoomForAnswer(): ApiError {
  return tryLater('circuit_breaking_exception', 'answers that their clients have not read yet take all the memory there is')
}

/** Takes memory for an answer as it grows. Throws 400 for more than one may have, 429 when others have what is left; `what` would be less. */
export function holdForAnswer(lease: MemoryLease, bytes: number, maxBytes: number, what: string): void {
  if (lease.heldBytes + bytes > maxBytes)
    throw new ApiError(
      400,
      'circuit_breaking_exception',
      `Data too large: the answer would take more than the limit of ${maxBytes} bytes; ask for less: ${what}`,
      { details: { bytes_wanted: lease.heldBytes + bytes, bytes_limit: maxBytes, durability: 'PERMANENT' } },
    )
  if (!lease.take(bytes)) throw noRoomForAnswer()
}
