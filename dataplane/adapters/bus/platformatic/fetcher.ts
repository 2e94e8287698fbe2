import type { RecordsBatch } from '@platformatic/kafka'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { PartitionQueue, PartitionQueues } from '../kafka/partition-queues.ts'
import { FETCH } from './apis.ts'
import type { Cluster, Lane } from './cluster.ts'
import { groupByTopic } from './group-offsets.ts'
import { answerIn, codeName, messageOf } from './protocol-errors.ts'
import { committedBatches, lastOffsetOf, timestampsOf } from './read-committed.ts'

/** Longest wait of a broker for the first record. */
const MAX_WAIT_MS = 250
const READ_COMMITTED = 1
/** Compressed bytes of one answer; more only when the first batch alone is larger. */
const MAX_ANSWER_BYTES = 4 << 20
const MAX_PARTITION_BYTES = 512 << 10
const BACKOFF_MS = 200

type FetchAnswer = Awaited<ReturnType<(typeof FETCH)[0]['async']>>
type FetchedPartition = FetchAnswer['responses'][number]['partitions'][number]

interface Asked {
  readonly queue: PartitionQueue
  readonly epoch: number
  readonly offset: number
}

/**
 * What is under way at one broker. The waiting request asks for everything that is hungry and comes back with the first record. A partition
 * that turns hungry or is moved meanwhile is asked for beside it, once, without waiting.
 */
interface Leader {
  isWaiting: boolean
  isAsking: boolean
  /** Asked for by the waiting request or since. */
  readonly epochs: Map<PartitionQueue, number>
}

export interface FetcherDeps {
  readonly cluster: Pick<Cluster, 'settings' | 'has' | 'topic' | 'refresh' | 'ask'>
  readonly queues: PartitionQueues
  /** The position lies outside of what the partition keeps: where to go on. */
  readonly resetOffset: (queue: PartitionQueue) => Promise<number>
}

/** Reads ahead for the partitions whose queues are low. */
export class Fetcher {
  readonly #deps: FetcherDeps
  readonly #leaders = new Map<number, Leader>()
  /** Brokers from which reading fails. */
  readonly #failing = new Set<number>()
  #closed = false

  constructor(deps: FetcherDeps) {
    this.#deps = deps
  }

  /** Looks for hungry partitions; to be called when a queue was taken from, added or moved. */
  pump(): void {
    if (this.#closed) return
    const { queues } = this.#deps
    const hungry = queues.all().filter(queue => queues.isHungry(queue))
    for (const [id, list] of Map.groupBy(hungry, queue => this.#leaderOf(queue))) {
      const leader = this.#leader(id)
      if (!leader.isWaiting) void this.#wait(id, leader, list)
      else if (!leader.isAsking) {
        const unasked = list.filter(queue => leader.epochs.get(queue) !== queue.epoch)
        if (unasked.length > 0) void this.#askBeside(id, leader, unasked)
      }
    }
  }

  close(): void {
    this.#closed = true
  }

  /** Negative while there is none. */
  #leaderOf({ topic, partition }: PartitionQueue): number {
    const { cluster } = this.#deps
    return cluster.has(topic) ? cluster.topic(topic).leaders[partition]! : -1
  }

  #leader(id: number): Leader {
    const known = this.#leaders.get(id)
    if (known !== undefined) return known
    const leader: Leader = { isWaiting: false, isAsking: false, epochs: new Map() }
    this.#leaders.set(id, leader)
    return leader
  }

  async #wait(id: number, leader: Leader, queues: readonly PartitionQueue[]): Promise<void> {
    leader.isWaiting = true
    leader.epochs.clear()
    const isFine = await this.#fetch(id, 'fetch', MAX_WAIT_MS, leader, queues).catch((error: unknown) => this.#report(id, messageOf(error)))
    if (isFine) this.#recovered(id)
    else if (!this.#closed) {
      await this.#deps.cluster.settings.clock.sleep(BACKOFF_MS)
      if (!this.#closed) await this.#deps.cluster.refresh().catch(() => undefined) // the next attempt says why
    }
    leader.isWaiting = false
    this.pump()
  }

  async #askBeside(id: number, leader: Leader, queues: readonly PartitionQueue[]): Promise<void> {
    leader.isAsking = true
    // What goes wrong here is met again, and reported, by the waiting request.
    await this.#fetch(id, 'fetch-beside', 0, leader, queues).catch(() => undefined)
    leader.isAsking = false
    this.pump()
  }

  async #fetch(id: number, lane: Lane, waitMs: number, leader: Leader, queues: readonly PartitionQueue[]): Promise<boolean> {
    const { cluster } = this.#deps
    // First of all, as what is not asked for would be asked for at once.
    for (const queue of queues) leader.epochs.set(queue, queue.epoch)
    if (id < 0) return this.#report(id, 'a partition has no leader')
    const asked = new Map(
      queues.map(queue => [
        `${cluster.topic(queue.topic).id}/${queue.partition}`,
        { queue, epoch: queue.epoch, offset: queue.fetchOffset },
      ]),
    )
    const answer = await this.#ask(id, lane, waitMs, queues)
    let isFine = true
    for (const { topicId, partitions } of answer.responses)
      for (const partition of partitions) {
        const of = asked.get(`${topicId}/${partition.partitionIndex}`)
        if (of !== undefined && !(await this.#take(id, of, partition))) isFine = false
      }
    return isFine
  }

  async #ask(id: number, lane: Lane, waitMs: number, queues: readonly PartitionQueue[]): Promise<FetchAnswer> {
    const { cluster } = this.#deps
    const topics = groupByTopic(queues).map(([topic, list]) => ({
      topicId: cluster.topic(topic).id,
      partitions: list.map(({ partition, fetchOffset }) => ({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: BigInt(fetchOffset),
        lastFetchedEpoch: -1,
        partitionMaxBytes: MAX_PARTITION_BYTES,
      })),
    }))
    try {
      return await cluster.ask(id, lane, FETCH, waitMs, 1, MAX_ANSWER_BYTES, READ_COMMITTED, 0, -1, topics, [], '')
    } catch (error) {
      const partly = answerIn<FetchAnswer>(error)
      if (partly === undefined || partly.errorCode !== 0) throw error
      return partly
    }
  }

  async #take(id: number, { queue, epoch, offset: asked }: Asked, partition: FetchedPartition): Promise<boolean> {
    const { queues, resetOffset, cluster } = this.#deps
    // Not when it was moved, or answered by another request, meanwhile.
    const isCurrent = () => !this.#closed && queues.isCurrent(queue, epoch) && queue.fetchOffset === asked
    if (!isCurrent()) return true
    const code = codeName(partition.errorCode)
    if (code === 'OFFSET_OUT_OF_RANGE') {
      const { topic, partition: index, fetchOffset } = queue
      const offset = await resetOffset(queue)
      cluster.settings.log.warn(
        { topic, partition: index, offset: fetchOffset, next: offset },
        'records to be read are no longer kept by Kafka',
      )
      if (isCurrent()) queue.seek(offset)
      return true
    }
    if (code !== undefined) return this.#report(id, `partition ${queue.partition} of ${queue.topic}: ${code}`)
    const batches = partition.records ?? []
    const last = batches.at(-1)
    if (last === undefined) return true
    const records = toRecords(queue, committedBatches(batches, partition.abortedTransactions ?? []))
    queues.push(queue, records, Number(lastOffsetOf(last)) + 1)
    return true
  }

  /** Says so once, however often and at however many brokers it is tried again. */
  #report(id: number, problem: string): false {
    if (this.#failing.size === 0 && !this.#closed)
      this.#deps.cluster.settings.log.warn({ problem }, 'reading from Kafka fails, trying again')
    this.#failing.add(id)
    return false
  }

  #recovered(id: number): void {
    if (this.#failing.size === 0) return
    this.#failing.delete(id)
    const leaders = new Set(this.#deps.queues.all().map(queue => this.#leaderOf(queue)))
    for (const other of this.#failing) if (!leaders.has(other)) this.#failing.delete(other)
    if (this.#failing.size === 0) this.#deps.cluster.settings.log.info({}, 'reading from Kafka works again')
  }
}

/** The records from the queue's position on: a batch is always read whole. */
function toRecords({ topic, partition, fetchOffset }: PartitionQueue, batches: readonly RecordsBatch[]): readonly ConsumedRecord[] {
  const records: ConsumedRecord[] = []
  for (const batch of batches) {
    const firstOffset = Number(batch.firstOffset)
    const timestampOf = timestampsOf(batch)
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = firstOffset + offsetDelta
      if (offset < fetchOffset) continue
      records.push({
        topic,
        partition,
        offset,
        timestampMs: timestampOf(timestampDelta),
        key: key?.toString() ?? '',
        value: value ?? NO_BYTES,
        headers: toHeaders(headers),
      })
    }
  }
  return records
}

const NO_BYTES = Buffer.alloc(0)
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

function toHeaders(entries: Iterable<readonly [unknown, unknown]>): Readonly<Record<string, string>> {
  let headers: Record<string, string> | undefined
  for (const [name, value] of entries) {
    headers ??= {}
    headers[String(name)] = value === null ? '' : String(value)
  }
  return headers ?? NO_HEADERS
}
