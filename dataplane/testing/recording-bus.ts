import { type Bus, BusError, type BusErrorReason, type BusRecord } from '../ports/bus.ts'

/** A bus that keeps what it is sent in memory, and fails or waits when told to. */
export interface RecordingBus extends Bus {
  /** Everything acknowledged, in order. */
  readonly sent: readonly { readonly topic: string; readonly record: BusRecord }[]
  /** How many `send` calls succeeded. */
  readonly sendCount: number
  /** How many `send` calls wait. */
  readonly waitingSends: number
  /** Keeps no longer what was sent so far. */
  forget(): void
  /** From now on `send` rejects so; `undefined`: it works again. */
  failWith(reason: BusErrorReason | undefined): void
  /** From now on `send` waits until the returned function is called. */
  hold(): () => void
  /** Records larger than this are refused as `record-too-large`. */
  limitRecords(maxBytes: number): void
}

export function createRecordingBus(): RecordingBus {
  const sent: { topic: string; record: BusRecord }[] = []
  let sendCount = 0
  let waitingSends = 0
  let reason: BusErrorReason | undefined
  let gate: Promise<void> | undefined
  let maxBytes = Number.POSITIVE_INFINITY
  const notKept = () => Promise.reject(new Error('the recording bus only takes what it is sent'))
  return {
    sent,
    get sendCount() {
      return sendCount
    },
    get waitingSends() {
      return waitingSends
    },
    forget() {
      sent.length = 0
    },
    failWith(next) {
      reason = next
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return () => {
        gate = undefined
        resolve()
      }
    },
    limitRecords(next) {
      maxBytes = next
    },
    async send(topic, records) {
      waitingSends++
      await gate
      waitingSends--
      if (reason !== undefined) throw new BusError(reason, `simulated: ${reason}`)
      if (records.some(record => record.value.length > maxBytes)) throw new BusError('record-too-large', 'simulated: record-too-large')
      sendCount++
      for (const record of records) sent.push({ topic, record: { ...record, value: Uint8Array.from(record.value) } })
    },
    beginTransaction: notKept,
    subscribe: notKept,
    describe: async () => ({ brokers: 1, partitions: [] }),
    committedOffsets: async () => [],
    purge: notKept,
    groupMembers: async () => [],
    stop: async () => {},
  }
}
