/** Collects flat records and dead letters while messages are flattened. */
import type { BusRecord } from '../../../ports/bus.ts'
import { LAYOUT_HEADER } from '../../flat-record-layout.ts'
import type { RecordSource } from './bytes/message-flattener.ts'
import type { DeadLetter } from './message-letters.ts'
import type { PartPlace } from './message-parts.ts'
import type { KeyedRecord } from './plain-flattener.ts'

/** Takes flat records and dead letters of messages, in the order of the messages. */
export interface EtlTarget {
  /** Begins the next message. */
  begin(): void
  /** Forgets the output of the message begun last. */
  takeBack(): void
  flat(record: KeyedRecord, source: RecordSource): void
  /** `records` log records cannot be read. No letter: they go into a later one of the same message. */
  dead(letter: DeadLetter | undefined, records: number): void
  /** Whether nothing more should come for now. */
  isFull(): boolean
}

/** A record is an object with a header, too. */
const RECORD_BYTES = 300

/** Collects the output of messages. */
export class EtlOutput implements EtlTarget {
  records: BusRecord[] = []
  deadLetters: DeadLetter[] = []
  received = 0
  #bytes = 0
  #begun = { records: 0, deadLetters: 0, received: 0, bytes: 0 }
  readonly #maxBytes: number

  /** Is full from `maxBytes` of records and letters on. */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes
  }

  isFull(): boolean {
    return this.#bytes >= this.#maxBytes
  }

  begin(): void {
    this.#begun = { records: this.records.length, deadLetters: this.deadLetters.length, received: this.received, bytes: this.#bytes }
  }

  takeBack(): void {
    const { records, deadLetters, received, bytes } = this.#begun
    this.records.length = records
    this.deadLetters.length = deadLetters
    this.received = received
    this.#bytes = bytes
  }

  /** Hands over the output so far, which cannot be taken back then. */
  take(): { readonly records: readonly BusRecord[]; readonly received: number } {
    const { records, received } = this
    this.records = []
    this.received = 0
    this.#bytes = 0
    return { records, received }
  }

  takeDeadLetters(): readonly DeadLetter[] {
    return this.deadLetters.splice(0)
  }

  flat({ key, value, layout }: KeyedRecord): void {
    this.received++
    this.#bytes += value.length + RECORD_BYTES
    this.records.push({ key, value, headers: { [LAYOUT_HEADER]: layout } })
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
  #seen = 0

  constructor(number: number) {
    this.#number = number
  }

  begin(): void {
    this.#seen = 0
    this.place = undefined
  }

  takeBack(): void {
    this.begin()
  }

  flat(_record: KeyedRecord, source: RecordSource): void {
    if (this.#seen++ === this.#number) this.place = placeOf(source)
  }

  dead(): void {}

  isFull(): boolean {
    return false
  }
}

export function placeOf({ around, start, end }: RecordSource): PartPlace {
  return { level: 'logRecords', range: { start, end }, ...around }
}
