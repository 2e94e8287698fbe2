/** The memory of exports and searches under way, and what is said where there is none. */
import { type BodyErrors, type BodyLease, BodyMemory } from '../limits/body-memory.ts'
import { Refusal } from './refusal.ts'

const ERRORS: BodyErrors = {
  full: (whose, usedBytes, limitBytes) =>
    new Refusal('overloaded', `requests${whose} under way hold ${usedBytes} bytes, the limit is ${limitBytes}; try again later`),
  slow: () => new Refusal('overloaded', 'the body of the request came too slowly while others needed its memory; try again later'),
}

/** Bounds the request bytes held at once; its leases throw a `Refusal` at the limit. */
export class MemoryBudget extends BodyMemory {
  constructor(limitBytes: number, nowMs?: () => number) {
    super(limitBytes, ERRORS, nowMs)
  }
}

export type MemoryLease = BodyLease
