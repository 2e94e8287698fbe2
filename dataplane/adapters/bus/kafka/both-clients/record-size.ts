import { BusError, type BusRecord } from '../../../../ports/bus.ts'

/** Lengths, offset and timestamp of a record in a batch, at most. */
const RECORD_OVERHEAD = 40
/** A batch's header, and what an incompressible batch may grow by. */
const BATCH_OVERHEAD = 1024

/** The bytes of a record within a batch at most, uncompressed. */
export function sizeOf({ key, value, headers }: BusRecord): number {
  let size = RECORD_OVERHEAD + 3 * key.length + value.length
  if (headers !== undefined) for (const name in headers) size += 10 + 3 * (name.length + headers[name]!.length)
  return size
}

/** Largest sum of `sizeOf` in one batch, so that the broker takes it even where compression makes it no smaller. */
export const batchBytesFor = (maxMessageBytes: number) => maxMessageBytes - BATCH_OVERHEAD - Math.ceil(maxMessageBytes / 200)

export function tooLarge(size: number, limit: number): BusError {
  return new BusError('record-too-large', `a record of ${size} bytes with its key and headers is larger than Kafka takes here (${limit})`)
}
