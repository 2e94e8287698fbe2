import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { ENVELOPE_BYTES, type Fragment, joinFragments } from '../../../otlp/fragments.ts'
import { type Bus, BusError, type BusRecord } from '../../../ports/bus.ts'

import { giveBack } from './give-back.ts'

/** A fragment and the key that decides its partition. */
export interface KeyedFragment {
  readonly key: string
  readonly fragment: Fragment
}

export interface BatcherDeps {
  readonly bus: Bus
  readonly topic: string
  /** A bus that has not answered by then counts as unavailable; what it still writes may be sent twice, which is harmless. */
  readonly ackTimeoutMs?: number
}

/** Longest wait for a send under way to finish before the next starts beside it (Decisions 3). */
const MAX_WAIT_MS = 200
/** Waiting fragments of this size in all start a send at once. */
const FULL_BATCH_BYTES = 4 * 1024 * 1024
const ACK_TIMEOUT_MS = 10_000

interface Waiting {
  readonly fragments: readonly KeyedFragment[]
  readonly resolve: (rejectedRecords: number) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends what arrives while a send is under way together in the next one, fragments of one key in one message.
 * Each caller waits for the acknowledgement of its own.
 */
export class BusBatcher {
  readonly #bus: Bus
  readonly #topic: string
  readonly #ackTimeoutMs: number
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #sendsUnderWay = 0
  #startPlanned = false
  #patience: NodeJS.Timeout | undefined

  constructor({ bus, topic, ackTimeoutMs = ACK_TIMEOUT_MS }: BatcherDeps) {
    this.#bus = bus
    this.#topic = topic
    this.#ackTimeoutMs = ackTimeoutMs
  }

  /** Resolves once all are durable, with the number of records that the bus will never take. Rejects with a `BusError`. */
  send(fragments: readonly KeyedFragment[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ fragments, resolve, reject })
      for (const { fragment } of fragments) this.#waitingBytes += fragment.sizeBytes
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#startPlanned || this.#waiting.length === 0) return
    if (this.#sendsUnderWay === 0 || this.#waitingBytes >= FULL_BATCH_BYTES) {
      this.#startPlanned = true
      setImmediate(() => this.#start()) // requests of the same turn of the event loop go together
    } else this.#patience ??= setTimeout(() => this.#start(), MAX_WAIT_MS)
  }

  #start(): void {
    clearTimeout(this.#patience)
    this.#patience = undefined
    this.#startPlanned = false
    const batch = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    if (batch.length > 0) void this.#sendBatch(batch)
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    this.#sendsUnderWay++
    try {
      const fragments = batch.flatMap(waiting => waiting.fragments)
      const records = buildMessages(fragments)
      await this.#sendRecords(records)
      giveBackCopies(records, fragments)
      for (const waiting of batch) waiting.resolve(0)
    } catch (error) {
      if (error instanceof BusError && error.reason === 'record-too-large') await this.#sendApart(batch)
      else for (const waiting of batch) waiting.reject(error)
    } finally {
      this.#sendsUnderWay--
      this.#plan()
    }
  }

  async #sendRecords(records: readonly BusRecord[]): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const message = `the message bus has not answered within ${this.#ackTimeoutMs} ms`
    const timer = setTimeout(() => reject(new BusError('unavailable', message)), this.#ackTimeoutMs)
    try {
      await Promise.race([this.#bus.send(this.#topic, records), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** The bus found a message too large: each fragment alone shows whose it was. */
  async #sendApart(batch: readonly Waiting[]): Promise<void> {
    for (const { fragments, resolve, reject } of batch) {
      let rejectedRecords = 0
      try {
        for (const keyed of fragments) if (!(await this.#sendAlone(keyed))) rejectedRecords += keyed.fragment.recordCount
        resolve(rejectedRecords)
      } catch (error) {
        reject(error)
      }
    }
  }

  async #sendAlone(keyed: KeyedFragment): Promise<boolean> {
    try {
      await this.#sendRecords(buildMessages([keyed]))
      return true
    } catch (error) {
      if (error instanceof BusError && error.reason === 'record-too-large') return false
      throw error
    }
  }
}

/** The memory of the messages that were put together here. */
function giveBackCopies(records: readonly BusRecord[], fragments: readonly KeyedFragment[]): void {
  const received = new Set(fragments.map(({ fragment }) => fragment.message))
  for (const { value } of records) if (!received.has(value)) giveBack(value)
}

/** One message per key, or more where they would be too large; fragments of a key keep their order. */
export function buildMessages(fragments: readonly KeyedFragment[]): BusRecord[] {
  const records: BusRecord[] = []
  const open = new Map<string, { readonly fragments: Fragment[]; sizeBytes: number }>()
  const close = (key: string, parts: readonly Fragment[]) => records.push({ key, value: joinFragments(parts) })
  for (const { key, fragment } of fragments) {
    const message = open.get(key)
    if (message !== undefined && message.sizeBytes + 1 + fragment.sizeBytes <= MAX_BUS_MESSAGE_BYTES) {
      message.fragments.push(fragment)
      message.sizeBytes += 1 + fragment.sizeBytes
    } else {
      if (message !== undefined) close(key, message.fragments)
      open.set(key, { fragments: [fragment], sizeBytes: ENVELOPE_BYTES + fragment.sizeBytes })
    }
  }
  for (const [key, message] of open) close(key, message.fragments)
  return records
}
