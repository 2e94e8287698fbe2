import { randomUUID } from 'node:crypto'
import { type Bus, BusError, type ConsumedRecord } from '../../ports/bus.ts'
import { type Letter, type LetterFilter, matchesFilter, parseLetter } from './letter.ts'

/** A group for each run: it commits nothing, so nothing of it stays, and two runs do not share the queue between them. */
const GROUP_PREFIX = 'logpipeline-dlq-'
const POLL = { maxRecords: 500, maxBytes: 4 * 1024 * 1024, waitMs: 1_000 }
/** Polls without a record after which what is left are offsets that hold none, such as the markers of transactions. */
const EMPTY_POLLS = 3
/** Polls without a partition after which the group is taken not to work. */
const UNASSIGNED_POLLS = 60

export interface QueueReading {
  readonly bus: Pick<Bus, 'describe' | 'subscribe'>
  /** The dead-letter topic. */
  readonly topic: string
  readonly filter: LetterFilter
  readonly limit: number
}

/** The letters that match, as the queue holds them at the start, oldest first (per partition). */
export async function* readLetters({ bus, topic, filter, limit }: QueueReading): AsyncGenerator<Letter> {
  let left = limit
  for await (const record of readQueue(bus, topic)) {
    const letter = parseLetter(record)
    if (letter === undefined || !matchesFilter(letter, filter)) continue
    yield letter
    if (--left <= 0) return
  }
}

async function* readQueue(bus: QueueReading['bus'], topic: string): AsyncGenerator<ConsumedRecord> {
  const { partitions } = await bus.describe()
  const filled = partitions.filter(partition => partition.topic === topic && partition.endOffset > partition.startOffset)
  const ends = new Map(filled.map(({ partition, endOffset }) => [partition, endOffset]))
  if (ends.size === 0) return
  const subscription = await bus.subscribe({ groupId: GROUP_PREFIX + randomUUID(), topics: [topic] })
  try {
    for (let empty = 0, unassigned = 0; ends.size > 0 && empty < EMPTY_POLLS; ) {
      const records = await subscription.poll(POLL)
      if (records.length > 0) empty = 0
      else if (subscription.assignment().length > 0) empty++
      else if (++unassigned >= UNASSIGNED_POLLS) throw new BusError('unavailable', `no partition of ${topic} was assigned within a minute`)
      for (const record of records) {
        const end = ends.get(record.partition)
        if (end === undefined || record.offset >= end) continue
        if (record.offset === end - 1) ends.delete(record.partition)
        yield record
      }
    }
  } finally {
    await subscription.close()
  }
}
