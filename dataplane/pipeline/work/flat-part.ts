/** Flat records that go on together, and where they come from. */
import type { ConsumedRecord } from '../../ports/bus.ts'
import { receivedAtMs, replayedAt } from '../dead-letters/dead-letter.ts'
import type { FlatRow } from '../flat-row.ts'
import type { Etl, RawMessage } from '../steps/flatten/etl.ts'

/** Where flat records of one part come from: those from position `at` on are of `message`, the first of them being its flat record `number`. */
export interface Origin {
  readonly at: number
  readonly message: ConsumedRecord
  readonly number: number
}

interface FlatPartConfig {
  readonly rows: readonly FlatRow[]
  readonly origins: readonly Origin[]
  readonly isHeavy: boolean
  readonly letterOfRecord: Etl['letterOfRecord']
}

/** Flat records of some messages of `raw-logs`, in their order. */
export class FlatPart {
  readonly rows: readonly FlatRow[]
  /** The rows are of tenants that bring much. */
  readonly isHeavy: boolean
  readonly #origins: readonly Origin[]
  readonly #letterOfRecord: Etl['letterOfRecord']
  /** Place in `#origins` of the origin that was asked for last. */
  #last = 0

  constructor({ rows, origins, isHeavy, letterOfRecord }: FlatPartConfig) {
    this.rows = rows
    this.isHeavy = isHeavy
    this.#origins = origins
    this.#letterOfRecord = letterOfRecord
    this.#markRows()
  }

  /** Each row learns its place and what it has from its message. Rows of a replayed message carry the time of the replay: a later step may give them up again. */
  #markRows(): void {
    const { rows } = this
    for (let position = 0; position < rows.length; position++) {
      const row = rows[position]!
      const message = this.messageOf(position)
      row.position = position
      row.partition = message.partition
      row.replayed = replayedAt(message)
    }
  }

  /** The message that the record at a position comes from. */
  messageOf(position: number): ConsumedRecord {
    return this.#originOf(position).message
  }

  /** The log record that became the record at a position, as a message of its own. */
  originalOf(position: number): Uint8Array {
    const { message, at, number } = this.#originOf(position)
    return this.#letterOfRecord(rawMessage(message), number + position - at)
  }

  #originOf(position: number): Origin {
    const origins = this.#origins
    // Positions are mostly asked for in their order.
    if (origins[this.#last]!.at > position) this.#last = 0
    while (this.#last + 1 < origins.length && origins[this.#last + 1]!.at <= position) this.#last++
    return origins[this.#last]!
  }
}

export function rawMessage(message: ConsumedRecord): RawMessage {
  return { value: message.value, receivedAtMs: receivedAtMs(message), key: message.key }
}
