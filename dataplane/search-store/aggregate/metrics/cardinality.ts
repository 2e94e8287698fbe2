/** Counts distinct values. */
import { createHash } from 'node:crypto'
import { classOf } from '../../query/bind/field.ts'
import type { QueryMemory } from '../../query/budget/query-memory.ts'
import { type CollectContext, type Collector, eachOr, eachPlace } from '../aggregation-collector.ts'
import { exactValues, groupField, isNumeric, needsDigits } from '../field-values.ts'
import type { SpecOf } from '../spec.ts'

/** Number of distinct values: exact up to 40,000, then estimated with a standard error of 0.8 %. */
export function createCardinality(spec: SpecOf<'cardinality'>, { memory }: CollectContext): Collector {
  const counter = new DistinctCounter(memory)
  return {
    collect: (view, places) => {
      const field = groupField(view, spec.field)
      const missing = spec.missing === undefined ? undefined : String(spec.missing)
      if (field === undefined) {
        if (missing !== undefined && view.size > 0) counter.add(missing)
        return
      }
      if (isNumeric(classOf(field))) {
        const reader = view.numbers(field)
        const add = (place: number, value: number | string): void => {
          if (typeof value === 'string' || !needsDigits(field, value)) counter.add(String(value))
          else exactValues(view, place, field, exact => counter.add(String(exact)))
        }
        eachPlace(view, places, place => eachOr<number | string>(reader, place, missing, value => add(place, value)))
        return
      }
      const reader = view.keywords(field)
      const { coded } = reader
      const codes = coded?.dictionary.length ?? 0
      const seen = (places?.length ?? view.size) * FEW_PLACES < codes ? undefined : new Uint8Array(codes)
      eachPlace(view, places, place => {
        if (coded !== undefined) {
          const code = coded.code(place)
          if (seen?.[code] === 1) return
          if (seen !== undefined) seen[code] = 1
          const text = code === 0 ? missing : coded.dictionary[code]
          if (text !== undefined) counter.add(text)
          return
        }
        eachOr(reader, place, missing, value => counter.add(value))
      })
    },
    result: () => ({ value: counter.estimate() }),
    orderValue: () => counter.estimate(),
  }
}

/** With fewer places than so many codes each, codes that were seen are not remembered. */
const FEW_PLACES = 8

const EXACT_LIMIT = 40_000
/** Memory of a value beside its text, bytes, about. */
const VALUE_BYTES = 48
const INDEX_BITS = 14
const REGISTERS = 2 ** INDEX_BITS

/** A set while small, then HyperLogLog. */
class DistinctCounter {
  #values: Set<string> | undefined = new Set()
  #registers: Uint8Array | undefined
  readonly #memory: QueryMemory
  #heldBytes = 0

  constructor(memory: QueryMemory) {
    this.#memory = memory
  }

  add(value: string): void {
    if (this.#values !== undefined) {
      if (this.#values.has(value)) return
      this.#charge(VALUE_BYTES + value.length)
      this.#values.add(value)
      if (this.#values.size > EXACT_LIMIT) this.#coarsen()
    } else this.#register(value)
  }

  estimate(): number {
    if (this.#values !== undefined) return this.#values.size
    let sum = 0
    let empty = 0
    for (const rank of this.#registers!) {
      sum += 2 ** -rank
      if (rank === 0) empty++
    }
    const raw = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS * REGISTERS) / sum
    const isSmall = raw <= 2.5 * REGISTERS && empty > 0
    return Math.round(isSmall ? REGISTERS * Math.log(REGISTERS / empty) : raw)
  }

  #charge(bytes: number): void {
    this.#memory.charge(bytes, 'fewer values to tell apart')
    this.#heldBytes += bytes
  }

  #coarsen(): void {
    this.#charge(REGISTERS)
    this.#registers = new Uint8Array(REGISTERS)
    for (const value of this.#values!) this.#register(value)
    this.#values = undefined
    this.#memory.giveBack(this.#heldBytes - REGISTERS)
    this.#heldBytes = REGISTERS
  }

  #register(value: string): void {
    const digest = createHash('sha1').update(value).digest()
    const index = digest.readUInt16BE(0) >>> (16 - INDEX_BITS)
    const low = digest.readUInt32BE(4)
    const rank = low === 0 ? 33 + Math.clz32(digest.readUInt32BE(8)) : Math.clz32(low) + 1
    if (rank > this.#registers![index]!) this.#registers![index] = rank
  }
}
