import { createHash } from 'node:crypto'
import { classOf } from '../query/field.ts'
import { type Collector, eachPlace } from './collector.ts'
import { groupField, isNumeric } from './field-values.ts'
import type { SpecOf } from './spec.ts'

/** Number of distinct values: exact up to 40,000, then estimated with a standard error of 0.8 %. */
export function createCardinality(spec: SpecOf<'cardinality'>): Collector {
  const counter = new DistinctCounter()
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
        eachPlace(view, places, place => {
          let hasValue = false
          reader.each(place, value => {
            hasValue = true
            counter.add(String(value))
          })
          if (!hasValue && missing !== undefined) counter.add(missing)
        })
        return
      }
      const reader = view.keywords(field)
      const { coded } = reader
      const seen = new Uint8Array(coded?.dictionary.length ?? 0)
      eachPlace(view, places, place => {
        if (coded !== undefined) {
          const code = coded.code(place)
          if (seen[code] === 1) return
          seen[code] = 1
          const text = code === 0 ? missing : coded.dictionary[code]
          if (text !== undefined) counter.add(text)
          return
        }
        let hasValue = false
        reader.each(place, value => {
          hasValue = true
          counter.add(value)
        })
        if (!hasValue && missing !== undefined) counter.add(missing)
      })
    },
    result: () => ({ value: counter.estimate() }),
    orderValue: () => counter.estimate(),
  }
}

const EXACT_LIMIT = 40_000
const INDEX_BITS = 14
const REGISTERS = 2 ** INDEX_BITS

/** A set while small, then HyperLogLog. */
export class DistinctCounter {
  #values: Set<string> | undefined = new Set()
  #registers: Uint8Array | undefined

  add(value: string): void {
    if (this.#values !== undefined) {
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

  #coarsen(): void {
    this.#registers = new Uint8Array(REGISTERS)
    for (const value of this.#values!) this.#register(value)
    this.#values = undefined
  }

  #register(value: string): void {
    const digest = createHash('sha1').update(value).digest()
    const index = digest.readUInt16BE(0) >>> (16 - INDEX_BITS)
    const low = digest.readUInt32BE(4)
    const rank = low === 0 ? 33 + Math.clz32(digest.readUInt32BE(8)) : Math.clz32(low) + 1
    if (rank > this.#registers![index]!) this.#registers![index] = rank
  }
}
