/** Reads ahead: which broker is asked for which partitions, and when. */
import type { ConsumedRecord } from '../../../../ports/bus.ts'
import { BatchReader, type RecordBatch } from '../batches/read-batch.ts'
import { committedBatches } from '../batches/read-committed.ts'
import type { PartitionQueue, PartitionQueues, UnpackedRecords } from '../both-clients/partition-queues.ts'
import { byTopic } from '../both-clients/topic-partitions.ts'
import { FETCH } from '../cluster/apis.ts'
import type { Cluster, Lane } from '../cluster/cluster.ts'
import { codeName, messageOf } from '../cluster/protocol-errors.ts'
import type { FetchAnswer, FetchedPartition } from './fetch-answer.ts'

/** Longest wait of a broker for the first record. */
const MAX_WAIT_MS = 250
const READ_COMMITTED = 1
/** Compressed bytes of one answer; more only when the first batch alone is larger. */
const MAX_ANSWER_BYTES = 4 << 20
const MAX_PARTITION_BYTES = 512 << 10
const BACKOFF_MS = 200
/** Problems that are told before reading works again. */
const MAX_TOLD = 100

interface Asked {
  readonly queue: PartitionQueue
  readonly epoch: number
  readonly offset: number
}

/**
 * Requests under way at one broker. The waiting request asks for everything that is hungry and comes back with the first record. A partition
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
  /** The position lies outside of what the partition keeps: where what is kept begins. */
  readonly resetOffset: (queue: PartitionQueue) => Promise<number>
  /** The partition holds other records than those that were read: what is known of it is of no use. */
  readonly startOver: (queues: readonly PartitionQueue[]) => void
}

/** Reads ahead for the partitions whose queues are low. */
export class Fetcher {
  readonly #deps: FetcherDeps
  readonly #leaders = new Map<number, Leader>()
  /** Brokers from which reading fails. */
  readonly #failing = new Set<number>()
  /** Problems that were told since reading last worked. */
  readonly #told = new Set<string>()
  /** The topic that each queue is read from. */
  readonly #topicIds = new WeakMap<PartitionQueue, string>()
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
    return cluster.has(topic) ? (cluster.topic(topic).leaders[partition] ?? -1) : -1
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
    // A failure here is met again, and reported, by the waiting request.
    await this.#fetch(id, 'fetch-beside', 0, leader, queues).catch(() => undefined)
    leader.isAsking = false
    this.pump()
  }

  async #fetch(id: number, lane: Lane, waitMs: number, leader: Leader, hungry: readonly PartitionQueue[]): Promise<boolean> {
    const { cluster } = this.#deps
    // First of all, as what is not asked for would be asked for at once.
    for (const queue of hungry) leader.epochs.set(queue, queue.epoch)
    if (id < 0) return this.#report(id, 'a partition has no leader')
    const queues = this.#ofSameTopics(hungry)
    if (queues.length === 0) return true
    const asked = new Map(
      queues.map(queue => [
        `${cluster.topic(queue.topic).id}/${queue.partition}`,
        { queue, epoch: queue.epoch, offset: queue.fetchOffset },
      ]),
    )
    const { errorCode, partitions } = await this.#ask(id, lane, waitMs, queues)
    const code = codeName(errorCode)
    if (code !== undefined) return this.#report(id, code)
    let isFine = true
    for (const fetched of partitions) {
      const of = asked.get(`${fetched.topicId}/${fetched.partition}`)
      if (of !== undefined && !(await this.#take(id, of, fetched))) isFine = false
    }
    return isFine
  }

  /** Those whose topic is the one that they were read from; a topic that was deleted and made again starts over. */
  #ofSameTopics(queues: readonly PartitionQueue[]): readonly PartitionQueue[] {
    const { cluster, startOver } = this.#deps
    const others: PartitionQueue[] = []
    for (const queue of queues) {
      const { id } = cluster.topic(queue.topic)
      const known = this.#topicIds.get(queue)
      if (known === undefined) this.#topicIds.set(queue, id)
      else if (known !== id) others.push(queue)
    }
    if (others.length === 0) return queues
    cluster.settings.log.warn(
      { topics: [...new Set(others.map(({ topic }) => topic))] },
      'a topic was made anew, it is read from its beginning',
    )
    startOver(others)
    return queues.filter(queue => !others.includes(queue))
  }

  #ask(id: number, lane: Lane, waitMs: number, queues: readonly PartitionQueue[]): Promise<FetchAnswer> {
    const { cluster } = this.#deps
    const topics = byTopic(queues, ({ topic, partition, fetchOffset }) => ({
      partition,
      // A broker that led before would say that there are fewer records than were read.
      currentLeaderEpoch: cluster.topic(topic).leaderEpochs[partition] ?? -1,
      fetchOffset: BigInt(fetchOffset),
      lastFetchedEpoch: -1,
      partitionMaxBytes: MAX_PARTITION_BYTES,
    })).map(({ topic, partitions }) => ({ topicId: cluster.topic(topic).id, partitions }))
    return cluster.ask(id, lane, FETCH, waitMs, 1, MAX_ANSWER_BYTES, READ_COMMITTED, 0, -1, topics, [], '')
  }

  async #take(id: number, { queue, epoch, offset: asked }: Asked, fetched: FetchedPartition): Promise<boolean> {
    const { queues, resetOffset, startOver, cluster } = this.#deps
    // Not when it was moved, or answered by another request, meanwhile.
    const isCurrent = () => !this.#closed && queues.isCurrent(queue, epoch) && queue.fetchOffset === asked
    if (!isCurrent()) return true
    const code = codeName(fetched.errorCode)
    if (code === 'OFFSET_OUT_OF_RANGE') {
      const { topic, partition: index, fetchOffset } = queue
      const offset = await resetOffset(queue)
      const isShorter = offset < fetchOffset
      cluster.settings.log.warn(
        { topic, partition: index, offset: fetchOffset, next: offset },
        isShorter ? 'Kafka has fewer records than were read, all are read again' : 'records to be read are no longer kept by Kafka',
      )
      if (!isCurrent()) return true
      if (isShorter) startOver([queue])
      else queue.seek(offset)
      return true
    }
    if (code !== undefined) return this.#report(id, `partition ${queue.partition} of ${queue.topic}: ${code}`)
    const last = fetched.batches.at(-1)
    if (last === undefined) return true
    const from = queue.fetchOffset
    const packed = committedBatches(fetched.batches, fetched.abortedTransactions)
      .filter(({ lastOffset, recordCount }) => lastOffset >= from && recordCount !== 0)
      .map(batch => ({ bytes: batch.body.length, unpack: () => unpackPortion(new BatchReader(batch, queue, from), batch) }))
    queues.push(queue, packed, last.lastOffset + 1)
    return true
  }

  /** Tells each problem once, however often and at however many brokers it is tried again. */
  #report(id: number, problem: string): false {
    if (!this.#told.has(problem) && this.#told.size < MAX_TOLD && !this.#closed) {
      this.#told.add(problem)
      this.#deps.cluster.settings.log.warn({ problem }, 'reading from Kafka fails, trying again')
    }
    this.#failing.add(id)
    return false
  }

  #recovered(id: number): void {
    if (this.#failing.size === 0) return
    this.#failing.delete(id)
    const leaders = new Set(this.#deps.queues.all().map(queue => this.#leaderOf(queue)))
    for (const other of this.#failing) if (!leaders.has(other)) this.#failing.delete(other)
    if (this.#failing.size > 0) return
    this.#told.clear()
    this.#deps.cluster.settings.log.info({}, 'reading from Kafka works again')
  }
}

function unpackPortion(reader: BatchReader, batch: RecordBatch): UnpackedRecords {
  const records: ConsumedRecord[] = []
  const { memory: bytes, plainBytes, parts, restBytes } = reader.read(records)
  return {
    ...{ records, plainBytes, parts },
    ...(bytes !== batch.body && { memory: { lastOffset: batch.lastOffset, bytes } }),
    ...(restBytes !== undefined && { rest: { bytes: restBytes, unpack: () => unpackPortion(reader, batch) } }),
  }
}
