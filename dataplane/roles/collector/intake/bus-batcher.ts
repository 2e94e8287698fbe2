/** Gathers the fragments of several requests into one send to the bus. */
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { TimedWaits } from '../../../limits/timed-waits.ts'
import { ENVELOPE_BYTES, type Fragment, joinFragments, MAX_MESSAGE_RECORDS } from '../../../otlp/fragments.ts'
import { messageMemory } from '../../../otlp/message-memory.ts'
import { type Bus, BusError, type BusRecord, QueueFull } from '../../../ports/bus.ts'
import { type Client, ExpectedClients } from './expected-clients.ts'

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
  readonly minIntervalMs?: number
  readonly gatherMs?: number
}

/** Longest wait for a send under way to finish before the next starts beside it (Decisions 3). */
const MAX_WAIT_MS = 200
/** Sends of little start this far apart, unless all are here that can be expected: one costs collector and bus as much as several requests of a record. */
const MIN_INTERVAL_MS = 3
/** Longest wait after the end of a send for the clients that it answered, where clients come again at once as a rule. */
const GATHER_MS = 2
/** So much is not little. */
const PACED_BYTES = 64 * 1024
/** Waiting fragments of this size in all start a send at once. */
const FULL_BATCH_BYTES = 4 * 1024 * 1024
const ACK_TIMEOUT_MS = 10_000

interface Waiting {
  readonly fragments: readonly KeyedFragment[]
  readonly client: Client | undefined
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
  readonly #waits: TimedWaits
  readonly #minIntervalMs: number
  readonly #gatherMs: number
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #sendsUnderWay = 0
  #startPlanned = false
  #lastStartMs = Number.NEGATIVE_INFINITY
  /** When the last send that succeeded ended. */
  #lastEndMs = Number.NEGATIVE_INFINITY
  readonly #expected = new ExpectedClients()
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires. */
  #dueMs = Number.POSITIVE_INFINITY

  constructor({ bus, topic, ackTimeoutMs = ACK_TIMEOUT_MS, minIntervalMs = MIN_INTERVAL_MS, gatherMs = GATHER_MS }: BatcherDeps) {
    this.#bus = bus
    this.#topic = topic
    this.#ackTimeoutMs = ackTimeoutMs
    this.#waits = new TimedWaits(ackTimeoutMs)
    this.#minIntervalMs = minIntervalMs
    this.#gatherMs = gatherMs
  }

  /** Resolves once all are durable, with the number of records that the bus will never take. Rejects with a `BusError`. */
  send(fragments: readonly KeyedFragment[], client?: Client): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ fragments, client, resolve, reject })
      this.#expected.arrived(client)
      for (const { fragment } of fragments) this.#waitingBytes += fragment.sizeBytes
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#startPlanned || this.#waiting.length === 0) return
    const delayMs = this.#delayMs()
    if (delayMs <= 0) {
      this.#startPlanned = true
      setImmediate(() => this.#start()) // requests of the same turn of the event loop go together
    } else this.#startWithin(delayMs)
  }

  #startWithin(delayMs: number): void {
    const dueMs = performance.now() + delayMs
    if (dueMs >= this.#dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => this.#start(), delayMs)
  }

  /** How long what waits may wait for more. */
  #delayMs(): number {
    if (this.#waitingBytes >= FULL_BATCH_BYTES) return 0
    if (this.#sendsUnderWay > 0) return MAX_WAIT_MS
    if (this.#waitingBytes >= PACED_BYTES || this.#expected.areHere) return 0
    const gatheredMs = this.#expected.comeAgain ? this.#lastEndMs + this.#gatherMs : 0
    return Math.max(this.#lastStartMs + this.#minIntervalMs, gatheredMs) - performance.now()
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#dueMs = Number.POSITIVE_INFINITY
    this.#startPlanned = false
    const batch = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#lastStartMs = performance.now()
    if (batch.length > 0) void this.#sendBatch(batch)
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    this.#sendsUnderWay++
    try {
      const fragments = batch.flatMap(waiting => waiting.fragments)
      const { records, copies } = buildMessages(fragments)
      await this.#sendRecords(records).catch((error: unknown) => {
        if (error instanceof QueueFull) giveBack(copies)
        throw error
      })
      giveBack(copies)
      this.#lastEndMs = performance.now()
      this.#expected.expect(batch.map(({ client }) => client))
      for (const waiting of batch) waiting.resolve(0)
    } catch (error) {
      if (error instanceof BusError && error.reason === 'record-too-large') await this.#sendApart(batch)
      else for (const waiting of batch) waiting.reject(error)
    } finally {
      this.#sendsUnderWay--
      this.#plan()
    }
  }

  #sendRecords(records: readonly BusRecord[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const message = `the message bus has not answered within ${this.#ackTimeoutMs} ms`
      const wait = this.#waits.begin(() => reject(new BusError('unavailable', message)))
      this.#bus.send(this.#topic, records).then(
        () => {
          this.#waits.end(wait)
          resolve()
        },
        (error: unknown) => {
          this.#waits.end(wait)
          reject(error)
        },
      )
    })
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
      await this.#sendRecords(buildMessages([keyed]).records)
      return true
    } catch (error) {
      if (error instanceof BusError && error.reason === 'record-too-large') return false
      throw error
    }
  }
}

function giveBack(copies: readonly Uint8Array[]): void {
  for (const copy of copies) messageMemory.giveBack(copy)
}

export interface Messages {
  readonly records: readonly BusRecord[]
  /** The values among them that were put together here. */
  readonly copies: readonly Uint8Array[]
}

/** One message per key, or more where they would be too large; fragments of a key keep their order. */
export function buildMessages(fragments: readonly KeyedFragment[]): Messages {
  const records: BusRecord[] = []
  const copies: Uint8Array[] = []
  const open = new Map<string, { readonly fragments: Fragment[]; sizeBytes: number; recordCount: number }>()
  const close = (key: string, parts: readonly Fragment[]) => {
    const value = joinFragments(parts)
    records.push({ key, value })
    if (value !== parts[0]!.message) copies.push(value)
  }
  for (const { key, fragment } of fragments) {
    const message = open.get(key)
    const fits =
      message !== undefined &&
      message.sizeBytes + 1 + fragment.sizeBytes <= MAX_BUS_MESSAGE_BYTES &&
      message.recordCount + fragment.recordCount <= MAX_MESSAGE_RECORDS
    if (fits) {
      message.fragments.push(fragment)
      message.recordCount += fragment.recordCount
      message.sizeBytes += 1 + fragment.sizeBytes
    } else {
      if (message !== undefined) close(key, message.fragments)
      open.set(key, { fragments: [fragment], sizeBytes: ENVELOPE_BYTES + fragment.sizeBytes, recordCount: fragment.recordCount })
    }
  }
  for (const [key, message] of open) close(key, message.fragments)
  return { records, copies }
}
