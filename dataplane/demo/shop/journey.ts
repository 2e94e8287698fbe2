/** One request of a customer on its way through the shop: its clock, its trace, what is said of it. */
import type { Conditions } from './faults.ts'
import type { Random } from './random.ts'
import type { ServiceName, ShopAttributes, ShopLevel, ShopRecord } from './services.ts'

/** The surroundings of journeys. */
export interface Surroundings {
  readonly random: Random
  readonly conditionsAt: (timeMs: number) => Conditions
  /** Counts up. */
  readonly nextOrder: () => number
}

/** One service at work for a request. */
export type Say = (level: ShopLevel, message: string, attributes?: ShopAttributes) => void

/** A request that is given up, and the status with which the gateway answers. */
export class Failed extends Error {
  readonly status: number

  constructor(status: number) {
    super(`answered with ${status}`)
    this.status = status
  }
}

export class Journey {
  readonly records: ShopRecord[] = []
  readonly random: Random
  timeMs: number
  readonly #surroundings: Surroundings
  readonly #traceId: string

  constructor(timeMs: number, surroundings: Surroundings) {
    this.timeMs = timeMs
    this.random = surroundings.random
    this.#surroundings = surroundings
    this.#traceId = this.random.hex(32)
  }

  get conditions(): Conditions {
    return this.#surroundings.conditionsAt(this.timeMs)
  }

  nextOrder(): number {
    return this.#surroundings.nextOrder()
  }

  /** Time goes by, so long in the median. */
  pass(medianMs: number, spread?: number): void {
    this.timeMs += this.random.duration(medianMs, spread)
  }

  /** A span of its own for a service. */
  enter(service: ServiceName): Say {
    const spanId = this.random.hex(16)
    return (level, message, attributes) => {
      const version = service === 'cart' ? { version: this.conditions.cartVersion } : {}
      const record = { service, level, message, timeMs: this.timeMs, traceId: this.#traceId, spanId, ...version }
      this.records.push(attributes === undefined ? record : { ...record, attributes })
      // Nobody says two things in the same moment.
      this.timeMs += 0.05 + this.random.next() * 0.2
    }
  }
}
