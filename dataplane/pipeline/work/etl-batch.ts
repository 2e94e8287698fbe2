/** One batch of ETL: flattens its messages in parts, and hands each part on when it is large enough. */
import type { ConsumedRecord } from '../../ports/bus.ts'
import type { DeadLetters } from '../dead-letters/dead-letter.ts'
import type { FlatMemory } from '../flat-memory.ts'
import type { Etl } from '../steps/flatten/etl.ts'
import { EtlOutput } from '../steps/flatten/etl-output.ts'
import { FlatPart, type Origin, rawMessage } from './flat-part.ts'

/** Output of this size is handed on at once, even in the middle of a message. */
export const MAX_ETL_PART_BYTES = 8_388_608

export interface EtlBatchDeps {
  readonly etl: Pick<Etl, 'processInParts'>
  /** Asked while `etl` is within a message. */
  readonly letterOfRecord: Etl['letterOfRecord']
  /** Takes one part after the other; resolves to the number of flat records that were taken. Rows in lent memory are read no more by then. */
  readonly take: (part: FlatPart) => Promise<number>
  readonly dead: DeadLetters
  /** Undefined: flat records get memory of their own. */
  readonly memory: FlatMemory | undefined
}

/** Takes messages through the ETL and hands on what they become in parts: what is held at once does not depend on what a message expands to. */
export class EtlBatch {
  readonly #deps: EtlBatchDeps
  readonly #collected: EtlOutput
  #origins: Origin[] = []
  /** Settles once the part handed on last is written: one part is written while the next is made. */
  #taking: Promise<void> = Promise.resolve()
  received = 0
  produced = 0

  constructor(deps: EtlBatchDeps) {
    this.#deps = deps
    this.#collected = new EtlOutput({ maxBytes: MAX_ETL_PART_BYTES, memory: deps.memory })
  }

  /** Resolves once the message is worked through; some of it may not be handed on yet. */
  async add(message: ConsumedRecord, isHeavy: boolean): Promise<void> {
    const { etl } = this.#deps
    const parts = etl.processInParts(rawMessage(message), this.#collected)
    let origin: Origin = { at: this.#collected.rows.length, message, number: 0 }
    this.#origins.push(origin)
    while (this.#goOn(parts, message)) {
      origin = { at: 0, message, number: origin.number + this.#collected.rows.length - origin.at }
      await this.endPart(isHeavy)
      this.#origins.push(origin)
    }
  }

  /** Begins to hand on the collected part, once the part before is taken. `isHeavy`: it is of tenants that bring much. */
  async endPart(isHeavy: boolean): Promise<void> {
    const { rows, received, release } = this.#collected.take()
    const part = new FlatPart({ rows, origins: this.#origins, isHeavy, letterOfRecord: this.#deps.letterOfRecord })
    this.#origins = []
    await this.#taking
    this.#taking = this.#handOn(part, release)
    // The next part, or `settled`, waits for it and learns of a failure.
    this.#taking.catch(() => undefined)
    this.received += received
  }

  /** Resolves once all parts are taken. */
  settled(): Promise<void> {
    return this.#taking
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

  async #handOn(part: FlatPart, release: () => void): Promise<void> {
    const { take, dead } = this.#deps
    const [taken] = await Promise.all([take(part), dead.send()])
    release()
    this.produced += taken
  }
}
