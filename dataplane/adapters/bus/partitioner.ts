/** Kafka's default partitioner for keyed records, so that a topic moved to Kafka keeps its mapping of keys to partitions. */
export function partitionOf(key: string, partitions: number): number {
  return partitions === 1 ? 0 : (hashOf(key) & 0x7fffffff) % partitions
}

/** Keys repeat (tenant and service), hashing them again is waste; bounded because clients choose them. */
const CACHED_KEYS = 4096
const cache = new Map<string, number>()

function hashOf(key: string): number {
  const known = cache.get(key)
  if (known !== undefined) return known
  if (cache.size >= CACHED_KEYS) cache.clear()
  const hash = murmur2(Buffer.from(key))
  cache.set(key, hash)
  return hash
}

const SEED = 0x9747b28c
const M = 0x5bd1e995
const R = 24

/** 32-bit murmur2 as Kafka's `Utils.murmur2` computes it; signed. */
export function murmur2(bytes: Uint8Array): number {
  const length = bytes.length
  let h = SEED ^ length
  const whole = length & ~3
  for (let i = 0; i < whole; i += 4) {
    let k = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    k = Math.imul(k, M)
    k ^= k >>> R
    h = Math.imul(h, M) ^ Math.imul(k, M)
  }
  const rest = length & 3
  if (rest === 3) h ^= bytes[whole + 2]! << 16
  if (rest >= 2) h ^= bytes[whole + 1]! << 8
  if (rest >= 1) h = Math.imul(h ^ bytes[whole]!, M)
  h ^= h >>> 13
  h = Math.imul(h, M)
  return h ^ (h >>> 15)
}
