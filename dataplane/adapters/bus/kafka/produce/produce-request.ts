import { Writer } from '@platformatic/kafka'

export interface EncodedBatch {
  readonly partition: number
  readonly bytes: Buffer
}

/** The Produce request with `acks=all`; versions 9 to 11 share the form. */
export function encodeProduce(topic: string, batches: readonly EncodedBatch[], timeoutMs: number, transactionalId: string | null): Writer {
  return Writer.create()
    .appendString(transactionalId)
    .appendInt16(-1)
    .appendInt32(timeoutMs)
    .appendArray([topic], (topics, name) =>
      topics.appendString(name).appendArray(batches as EncodedBatch[], (partitions, { partition, bytes }) =>
        partitions
          .appendInt32(partition)
          .appendUnsignedVarInt(bytes.length + 1)
          .append(bytes),
      ),
    )
    .appendTaggedFields()
}
