/** The order of buckets by their keys. */
import { compareTexts } from '../../analysis/compare-texts.ts'
import { parseAddress } from '../../mapping/ip-address.ts'
import type { Field } from '../../query/bind/field.ts'

type CompareKeys = (a: unknown, b: unknown) => number

type KeyField = Partial<Pick<Field, 'isAddress'>>

/** The order of a field's keys: of addresses by their bits. It remembers the bits of all keys that it has seen, for an answer with all of them. */
export function keyOrder(field: KeyField | undefined): CompareKeys {
  if (field?.isAddress !== true) return compareKeys
  const known = new Map<unknown, bigint | undefined>()
  return addressOrder(key => {
    if (!known.has(key)) known.set(key, bitsOfKey(key))
    return known.get(key)
  })
}

/** The same for keys that are not kept. */
export const passingKeyOrder = (field: KeyField): CompareKeys => (field.isAddress === true ? addressOrder(bitsOfKey) : compareKeys)

/** A stand-in for documents without an address may be any text, and is last. */
const addressOrder =
  (bitsOf: (key: unknown) => bigint | undefined): CompareKeys =>
  (a, b) => {
    const first = bitsOf(a)
    const second = bitsOf(b)
    if (first === second) return compareKeys(a, b)
    if (first === undefined || second === undefined) return first === undefined ? 1 : -1
    return first < second ? -1 : 1
  }

const bitsOfKey = (key: unknown): bigint | undefined => (typeof key === 'string' ? parseAddress(key) : undefined)

/** Texts stand behind numbers. */
export function compareKeys(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if ((typeof a === 'string') === (typeof b === 'string')) return (a as number | bigint) < (b as number | bigint) ? -1 : 1
  return typeof a === 'string' ? 1 : -1
}
