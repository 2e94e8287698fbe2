/** One batch of ETL: flattens its messages in parts, and sends each part when it is large enough. */
import type { BusRecord, ConsumedRecord } from '../../ports/bus.ts'
import { DEAD_LETTER_HEADERS, type DeadLetters, receivedAtMs } from '../dead-letter.ts'
import type { Output } from '../runners/work.ts'
import { sendFitting } from '../send-fitting.ts'
import type { Etl, RawMessage } from '../steps/flatten/etl.ts'
import { EtlOutput } from '../steps/flatten/etl-output.ts'

/** Output of this size is sent at once, even in the middle of a message. */
export const MAX_ETL_PART_BYTES = 8_388_608

export interface EtlBatchDeps {
  readonly etl: Pick<Etl, 'processInParts'>
  /** Asked while `etl` is within a message. */
  readonly letterOfRecord: Etl['letterOfRecord']
  readonly output: Output
  /** For flat records. */
  readonly topic: string
  readonly dead: DeadLetters
}

/** Where flat records of one part come from: those from position `at` on are of `message`, the first of them being its flat record `number`. */
interface Origin {
  readonly at: number
  readonly message: ConsumedRecord
  readonly number: number
}

/** Takes messages through the ETL and sends what they become in parts: what is held at once does not depend on what a message expands to. */
export class EtlBatch {
  readonly #deps: EtlBatchDeps
  readonly #collected = new EtlOutput(MAX_ETL_PART_BYTES)
  #origins: Origin[] = []
  /** Of the part sent last: one is written while the next is made. */
  #sending: Promise<void> = Promise.resolve()
  received = 0
  produced = 0

  constructor(deps: EtlBatchDeps) {
    this.#deps = deps
  }

  /** Resolves once the message is worked through; some of it may not be sent yet. */
  async add(message: ConsumedRecord): Promise<void> {
    const { etl } = this.#deps
    const parts = etl.processInParts(rawMessage(message), this.#collected)
    let origin: Origin = { at: this.#collected.records.length, message, number: 0 }
    this.#origins.push(origin)
    while (this.#goOn(parts, message)) {
      origin = { at: 0, message, number: origin.number + this.#collected.records.length - origin.at }
      await this.sendPart()
      this.#origins.push(origin)
    }
  }

  /** Begins to send the collected part, once the part before is sent. */
  async sendPart(): Promise<void> {
    const { records, received } = this.#collected.take()
    const origins = this.#origins
    this.#origins = []
    await this.#sending
    this.#sending = this.#send(records, origins)
    // The next part, or `settled`, waits for it and learns of a failure.
    this.#sending.catch(() => undefined)
    this.received += received
    this.produced += records.length
  }

  /** Resolves once all parts are sent. */
  settled(): Promise<void> {
    return this.#sending
  }

  /** False at the end of the message. One that breaks the step itself must not stop its partition. */
  #goOn(parts: Generator<void, void, undefined>, message: ConsumedRecord): boolean {
    const { dead } = this.#deps
    let isOver = true
    try {
      isOver = parts.next().done === true
    } catch (error) {
      dead.add(message, `etl failed: ${error}`)
    }
    for (const { value, reason } of this.#collected.takeDeadLetters()) dead.add(message, reason, value)
    return !isOver
  }

  async #send(records: readonly BusRecord[], origins: readonly Origin[]): Promise<void> {
    const { output, topic, dead } = this.#deps
    const [refused] = await Promise.all([sendFitting(output, topic, withReplays(records, origins)), dead.send()])
    for (const position of refused) this.#giveUp(position, records[position]!, origins)
    await dead.send()
  }

  /** A flat record that the bus takes for too large: the log record it was made of goes to the dead-letter queue. */
  #giveUp(position: number, { value }: BusRecord, origins: readonly Origin[]): void {
    const { dead, letterOfRecord } = this.#deps
    const { message, at, number } = origins.findLast(origin => origin.at <= position)!
    const reason = `flat record: ${value.length} bytes are more than the bus takes`
    dead.add(message, reason, letterOfRecord(rawMessage(message), number + position - at))
    this.produced--
  }
}

function rawMessage(message: ConsumedRecord): RawMessage {
  return { value: message.value, receivedAtMs: receivedAtMs(message), key: message.key }
}

/** Records of a replayed message carry the time of the replay, too: a later step may give them up again. */
function withReplays(records: readonly BusRecord[], origins: readonly Origin[]): readonly BusRecord[] {
  if (!origins.some(({ message }) => replaysOf(message) !== undefined)) return records
  return records.map((record, position) => {
    const replayed = replaysOf(origins.findLast(({ at }) => at <= position)!.message)
    return replayed === undefined ? record : { ...record, headers: { ...record.headers, [DEAD_LETTER_HEADERS.replayed]: replayed } }
  })
}

const replaysOf = ({ headers }: ConsumedRecord) => headers[DEAD_LETTER_HEADERS.replayed]
