/**
 * Shared memory that tells all threads how far each topic's log may be read. One writer, the owner of the log.
 * Also the bell that wakes waiting readers, so that neither payload nor message travels between threads.
 */
export class SharedEnds {
  readonly buffer: SharedArrayBuffer
  readonly #ends: BigInt64Array
  readonly #changes: Int32Array
  readonly #listeners = new Map<number, Set<() => void>>()
  readonly #armed = new Set<number>()

  constructor(buffer: SharedArrayBuffer, topics: number) {
    this.buffer = buffer
    this.#ends = new BigInt64Array(buffer, 0, topics)
    this.#changes = new Int32Array(buffer, topics * 8, topics)
  }

  static create(topics: number): SharedEnds {
    return new SharedEnds(new SharedArrayBuffer(topics * 12), topics)
  }

  /** Segment sequence and position up to which records are durable and decided. */
  publish(topic: number, sequence: number, position: number): void {
    Atomics.store(this.#ends, topic, (BigInt(sequence) << 32n) | BigInt(position))
    Atomics.add(this.#changes, topic, 1)
    Atomics.notify(this.#changes, topic)
  }

  sequenceAndPosition(topic: number): readonly [sequence: number, position: number] {
    const end = Atomics.load(this.#ends, topic)
    return [Number(end >> 32n), Number(end & 0xffffffffn)]
  }

  /** Calls `listener` upon changes from now on (now and then without one), until the returned function is called. */
  listen(topic: number, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    this.#arm(topic, listeners)
    return () => listeners.delete(listener)
  }

  /** At most one waiter per topic and thread is outstanding: waiters cannot be withdrawn and would pile up. */
  #arm(topic: number, listeners: ReadonlySet<() => void>): void {
    if (this.#armed.has(topic) || listeners.size === 0) return
    const wait = Atomics.waitAsync(this.#changes, topic, Atomics.load(this.#changes, topic))
    if (!wait.async) {
      this.#ring(topic, listeners)
      return
    }
    this.#armed.add(topic)
    void wait.value.then(() => {
      this.#armed.delete(topic)
      this.#ring(topic, listeners)
    })
  }

  #ring(topic: number, listeners: ReadonlySet<() => void>): void {
    for (const listener of [...listeners]) listener()
    this.#arm(topic, listeners)
  }
}
