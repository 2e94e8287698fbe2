import type { ConsumedRecord } from '../../../../ports/bus.ts'

/** Kafka is younger. */
const LEAST_MS = Date.UTC(2010, 0, 1)
const MOST_MS = Date.UTC(2100, 0, 1)

const isTime = (ms: number) => ms >= LEAST_MS && ms <= MOST_MS

/**
 * Records with the time at which they are read in place of one that cannot be. A topic that was made with `CreateTime` keeps what producers say: no time
 * (-1), seconds or nanoseconds. Records would be of a day in 1970, which retention deletes.
 */
export function withSoundTimes(records: readonly ConsumedRecord[], nowMs: number): readonly ConsumedRecord[] {
  if (records.every(({ timestampMs }) => isTime(timestampMs))) return records
  return records.map(record => (isTime(record.timestampMs) ? record : { ...record, timestampMs: nowMs }))
}
