/** Counters in shared memory: every thread that holds the buffer adds to them without a message. */
export interface SharedCounters<K extends string> {
  /** Hand it to a worker thread, which attaches to it with the same keys. */
  readonly buffer: SharedArrayBuffer
  add(key: K, amount?: number): void
  value(key: K): number
}

export function createSharedCounters<K extends string>(keys: readonly K[]): SharedCounters<K> {
  return attachSharedCounters(keys, new SharedArrayBuffer(keys.length * BigInt64Array.BYTES_PER_ELEMENT))
}

/** `keys` must be those that the buffer was created with, in the same order. */
export function attachSharedCounters<K extends string>(keys: readonly K[], buffer: SharedArrayBuffer): SharedCounters<K> {
  const cells = new BigInt64Array(buffer)
  if (cells.length !== keys.length) throw new Error(`expected a buffer of ${keys.length} counters, seen ${cells.length}`)
  const index = Object.fromEntries(keys.map((key, i) => [key, i])) as Record<K, number>
  return {
    buffer,
    add(key, amount = 1) {
      Atomics.add(cells, index[key], BigInt(amount))
    },
    value: key => Number(Atomics.load(cells, index[key])),
  }
}
