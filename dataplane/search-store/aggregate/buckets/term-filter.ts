/** `include` and `exclude` of terms: which values have buckets. */
import { illegalArgument, unsupported } from '../../api-error.ts'
import { classOf, type Field } from '../../query/bind/field.ts'
import { isNumeric, missingNumber } from '../field-values.ts'
import type { TermChoice, TermFilter } from '../spec.ts'

type Key = string | number | bigint
type Test = (key: Key) => boolean

const EVERY: Test = () => true

/** `field`: undefined where the index lacks it. Throws 400 for a choice that its values cannot make. */
export function termTest({ name, include, exclude }: TermFilter & { readonly name: string }, field: Field | undefined): Test {
  if (include === undefined && exclude === undefined) return EVERY
  const isIncluded = include === undefined ? EVERY : testOf(name, include, field)
  const isExcluded = exclude === undefined ? undefined : testOf(name, exclude, field)
  return isExcluded === undefined ? isIncluded : key => isIncluded(key) && !isExcluded(key)
}

function testOf(name: string, choice: TermChoice, field: Field | undefined): Test {
  const hasNumbers = field !== undefined && isNumeric(classOf(field))
  if ('partition' in choice) {
    if (field !== undefined && (field.type === 'double' || field.type === 'float'))
      throw unsupported(`[partition] of the field [${field.path}] of type [${field.type}]`)
    return key => partitionOf(key, choice.partitions) === choice.partition
  }
  if ('pattern' in choice) {
    if (hasNumbers || field?.isAddress === true)
      throw illegalArgument(
        `Aggregation [${name}] cannot support regular expression style include/exclude settings as they can only be applied to ` +
          'string fields. Use an array of values for include/exclude clauses',
      )
    return key => choice.pattern.test(String(key))
  }
  if (!hasNumbers) return key => choice.names.has(String(key))
  const numbers = new Set(Array.from(choice.names, name => missingNumber(name, field)))
  return key => (typeof key === 'bigint' ? choice.names.has(String(key)) : numbers.has(Number(key)))
}

/** As OpenSearch parts them. */
function partitionOf(key: Key, partitions: number): number {
  const hash = typeof key === 'string' ? BigInt(murmur3(Buffer.from(key))) : mixed(BigInt(key))
  const rest = hash % BigInt(partitions)
  return Number(rest < 0n ? rest + BigInt(partitions) : rest)
}

/** MurmurHash3 of 32 bits with the seed that OpenSearch has for this. */
function murmur3(bytes: Buffer): number {
  const scramble = (word: number): number => {
    const product = Math.imul(word, 0xcc9e2d51)
    return Math.imul((product << 15) | (product >>> 17), 0x1b873593)
  }
  let hash = 31
  const whole = bytes.length & ~3
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble(bytes.readInt32LE(at))
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | bytes[at]!
  hash ^= scramble(tail) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function mixed(value: bigint): bigint {
  const word = (bits: bigint): bigint => BigInt.asUintN(64, bits)
  let bits = word(value)
  bits = word((bits ^ (bits >> 32n)) * 0x4cd6944c5cc20b6dn)
  bits = word((bits ^ (bits >> 29n)) * 0xfc12c5b19d3259e9n)
  return BigInt.asIntN(64, bits ^ (bits >> 32n))
}
