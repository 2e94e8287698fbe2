import { BusError, type BusRecord, type ConsumedRecord, type TopicPartitionOffset } from '../../../ports/bus.ts'

export const record = (key: string, text: string): BusRecord => ({ key, value: Buffer.from(text) })
export const textOf = ({ value }: ConsumedRecord) => Buffer.from(value).toString()

export function nextOffsets(records: readonly ConsumedRecord[]): readonly TopicPartitionOffset[] {
  const next = new Map<string, TopicPartitionOffset>()
  for (const { topic, partition, offset } of records) next.set(`${topic}/${partition}`, { topic, partition, offset: offset + 1 })
  return [...next.values()]
}

/** Why it was rejected; undefined when it was not. */
export async function reasonOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof BusError ? error.reason : String(error)),
  )
}
