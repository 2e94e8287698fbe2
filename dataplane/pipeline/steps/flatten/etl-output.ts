/** Collects flat records and dead letters while messages are flattened. */
import { type FlatMemory, FlatPages } from '../../flat-memory.ts'
import type { EncodedRecord } from '../../flat-record-layout.ts'
import { FlatRow } from '../../flat-row.ts'
import type { RecordSource } from './bytes/message-flattener.ts'
import type { DeadLetter } from './message-letters.ts'
import type { PartPlace } from './message-parts.ts'

/** Takes flat records and dead letters of messages, in the order of the messages. */
export interface EtlTarget {
  /** Begins the next message. */
  begin(): void
  /** Forgets the output of the message begun last. */
  takeBack(): void
  /** `key` is `<tenant>/<service>`; the record stays until the next. */
  flat(key: string, record: EncodedRecord, source: RecordSource): void
  /** `records` log records cannot be read. No letter: they go into a later one of the same message. */
  dead(letter: DeadLetter | undefined, records: number): void
  /** Whether nothing more should come for now. */
  isFull(): boolean
}

/** A record is an object, too. */
const RECORD_BYTES = 300

/** Flat records that were collected together. */
export interface Collected {
  readonly rows: readonly FlatRow[]
  /** Log records that they come from, and those that could not be read. */
  readonly received: number
  /** Gives back the memory of the rows, which nobody may read any more. */
  release(): void
}

export interface EtlOutputConfig {
  /** Bytes of records and letters from which on the output is full. Default: it never is. */
  readonly maxBytes?: number
  /** Default: its own. */
  readonly memory?: FlatMemory | undefined
}

/** Collects the output of messages. */
export class EtlOutput implements EtlTarget {
  rows: FlatRow[] = []
  deadLetters: DeadLetter[] = []
  received = 0
  #bytes = 0
  #begun = { rows: 0, deadLetters: 0, received: 0, bytes: 0 }
  #pages: FlatPages
  readonly #memory: FlatMemory | undefined
  readonly #maxBytes: number

  constructor({ maxBytes = Number.POSITIVE_INFINITY, memory }: EtlOutputConfig = {}) {
    this.#maxBytes = maxBytes
    this.#memory = memory
    this.#pages = new FlatPages(memory)
  }

  isFull(): boolean {
    return this.#bytes >= this.#maxBytes
  }

  begin(): void {
    this.#begun = { rows: this.rows.length, deadLetters: this.deadLetters.length, received: this.received, bytes: this.#bytes }
  }

  takeBack(): void {
    const { rows, deadLetters, received, bytes } = this.#begun
    this.rows.length = rows
    this.deadLetters.length = deadLetters
    this.received = received
    this.#bytes = bytes
  }

  /** Hands over the output so far, which cannot be taken back then. */
  take(): Collected {
    const { rows, received } = this
    const pages = this.#pages
    this.rows = []
    this.received = 0
    this.#bytes = 0
    this.#pages = new FlatPages(this.#memory)
    const memory = this.#memory
    return {
      rows,
      received,
      release() {
        pages.release()
        memory?.giveBackRows(rows)
      },
    }
  }

  takeDeadLetters(): readonly DeadLetter[] {
    return this.deadLetters.splice(0)
  }

  flat(key: string, record: EncodedRecord): void {
    const { bytes, start, end } = record
    const size = end - start
    this.received++
    this.#bytes += size + RECORD_BYTES
    const { page, at } = this.#pages.place(size)
    bytes.copy(page, at, start, end)
    this.rows.push(this.#memory === undefined ? new FlatRow(key, record, page, at) : this.#memory.row(key, record, page, at))
  }

  dead(letter: DeadLetter | undefined, records: number): void {
    this.received += records
    if (letter === undefined) return
    this.#bytes += letter.value.length + RECORD_BYTES
    this.deadLetters.push(letter)
  }
}

/** Finds where the flat record with this number comes from, counted from 0 within one message. */
export class RecordFinder implements EtlTarget {
  place: PartPlace | undefined
  readonly #number: number
  #passed = 0

  constructor(number: number) {
    this.#number = number
  }

  begin(): void {
    this.#passed = 0
    this.place = undefined
  }

  takeBack(): void {
    this.begin()
  }

  flat(_key: string, _record: EncodedRecord, source: RecordSource): void {
    if (this.#passed++ === this.#number) this.place = placeOf(source)
  }

  dead(): void {}

  isFull(): boolean {
    return false
  }
}

export function placeOf({ around, start, end }: RecordSource): PartPlace {
  return { level: 'logRecords', range: { start, end }, ...around }
}
