/** Writes batches under numbers by which Kafka knows those that come twice. */
import { backOffMs } from '../../../../limits/back-off.ts'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { BusError } from '../../../../ports/bus.ts'
import type { Compression } from '../batches/compression.ts'
import { encodeBatch } from '../batches/write-batch.ts'
import { kafkaError, PartitionGone } from '../both-clients/kafka-errors.ts'
import type { PartitionBatches, SendQueueDeps } from '../both-clients/send-queue.ts'
import { INIT_PRODUCER_ID, PRODUCE } from '../cluster/apis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { codeName, isPassing, isPassingCode, messageOf } from '../cluster/protocol-errors.ts'
import type { EncodedBatch, ProduceAnswer } from './produce-request.ts'
import { compressionInstead, type TopicCompressions } from './topic-compressions.ts'

/** Identity of a producer towards Kafka, and what it has written: batches that are sent again are recognised by it. */
export interface ProducerSession {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly transactionalId: string | null
  /** Next number by topic and partition. */
  readonly sequences: Map<string, Map<number, number>>
}

export interface ProduceDeps {
  readonly cluster: Cluster
  readonly compressions: TopicCompressions
}

const BACK_OFF = { firstMs: 20, maxMs: 500 }

/**
 * Writes one batch per partition with `acks=all`. What one broker refuses for now is sent again to the leader of that time, under the same numbers,
 * so nothing is written twice; with another compression where this one is refused. Rejects when that did not end well until `deadlineMs`: the session must not be used again.
 */
export async function produce(
  { cluster, compressions }: ProduceDeps,
  session: ProducerSession,
  topic: string,
  batches: PartitionBatches,
  deadlineMs: number,
): Promise<void> {
  const { clock } = cluster.settings
  let compression = compressions.of(topic)
  let refusal = ''
  let left = encodeAll(session, topic, batches, clock.nowMs(), compression)
  const encoded = [...left]
  let failures = 0
  for (;;) {
    const before = left.length
    const { unwritten, lastError, instead } = await produceOnce(cluster, session.transactionalId, topic, left, compression)
    left = unwritten
    if (left.length === 0) break
    if (instead !== undefined) {
      compression = instead
      refusal = lastError
      const again = new Map(left.map(({ partition }) => [partition, batches.get(partition)!]))
      left = encodeAll(session, topic, again, clock.nowMs(), compression)
      encoded.push(...left)
      continue
    }
    failures = left.length < before ? 1 : failures + 1
    const backoffMs = backOffMs(BACK_OFF, failures)
    if (backoffMs > cluster.timeLeftMs(deadlineMs) || cluster.isClosed)
      throw new BusError('unavailable', `writing to ${topic}: ${lastError}`)
    await clock.sleep(backoffMs)
    await cluster.refresh().catch(() => undefined) // then the next attempt fails, and says why
  }
  compressions.learn(topic, compression, refusal)
  for (const { bytes } of encoded) releaseBytes(bytes) // the request was a copy of them
  const sequences = sequencesOf(session, topic)
  for (const [partition, records] of batches) sequences.set(partition, nextSequence(sequences.get(partition) ?? 0, records.length))
}

/** Writes the records of one topic under one identity, renewed after a write whose outcome is uncertain. */
export function createProduce(deps: ProduceDeps): SendQueueDeps['produce'] {
  const { cluster } = deps
  let session: ProducerSession | undefined
  return async (topic, batches) => {
    const deadlineMs = cluster.deadlineMs()
    try {
      session ??= await newSession(cluster, deadlineMs)
      await produce(deps, session, topic, batches, deadlineMs)
    } catch (error) {
      session = undefined
      throw error
    }
  }
}

async function newSession(cluster: Cluster, deadlineMs: number): Promise<ProducerSession> {
  const timeoutMs = cluster.settings.transactionTimeoutMs
  const asking = () => cluster.askAny(INIT_PRODUCER_ID, null, timeoutMs, -1n, -1)
  const { producerId, producerEpoch } = await cluster.retry(deadlineMs, 'becoming a producer', asking)
  return { producerId, producerEpoch, transactionalId: null, sequences: new Map() }
}

function sequencesOf({ sequences }: ProducerSession, topic: string): Map<number, number> {
  const known = sequences.get(topic)
  if (known !== undefined) return known
  const made = new Map<number, number>()
  sequences.set(topic, made)
  return made
}

/** Numbers start over after 2^31 - 1. */
const nextSequence = (sequence: number, count: number) => (sequence + count) % 0x80000000

function encodeAll(
  session: ProducerSession,
  topic: string,
  batches: PartitionBatches,
  nowMs: number,
  compression: Compression,
): readonly EncodedBatch[] {
  const { producerId, producerEpoch, transactionalId } = session
  const sequences = sequencesOf(session, topic)
  return [...batches].map(([partition, records]) => {
    const baseSequence = sequences.get(partition) ?? 0
    const identity = { producerId, producerEpoch, baseSequence, isTransactional: transactionalId !== null }
    return { partition, bytes: encodeBatch(records, identity, nowMs, compression) }
  })
}

interface Outcome {
  readonly unwritten: readonly EncodedBatch[]
  readonly lastError: string
  /** Kafka refuses the compression of some batches: the one to try. */
  readonly instead?: Compression | undefined
}

/** One request to each broker that leads some of the partitions. Rejects only for what will never be written. */
async function produceOnce(
  cluster: Cluster,
  transactionalId: string | null,
  topic: string,
  batches: readonly EncodedBatch[],
  compression: Compression,
): Promise<Outcome> {
  const { leaders } = cluster.topic(topic)
  // The broker gives up before this side does, so that its reason arrives.
  const timeoutMs = Math.floor(cluster.settings.requestTimeoutMs * 0.8)
  const gone = batches.find(({ partition }) => partition >= leaders.length)
  if (gone !== undefined) throw new PartitionGone(topic, gone.partition)
  const byLeader = Map.groupBy(batches, ({ partition }) => leaders[partition] ?? -1)
  const produceAt = async (leader: number, part: readonly EncodedBatch[]): Promise<Outcome> => {
    if (leader < 0) return { unwritten: part, lastError: `no leader of partition ${part[0]!.partition}` }
    try {
      return judge(topic, part, compression, await cluster.ask(leader, 'produce', PRODUCE, topic, part, timeoutMs, transactionalId))
    } catch (error) {
      if (!isPassing(error)) throw error
      return { unwritten: part, lastError: messageOf(error) }
    }
  }
  const [only] = byLeader
  if (only !== undefined && byLeader.size === 1) return produceAt(...only)
  const outcomes = await Promise.allSettled([...byLeader].map(([leader, part]) => produceAt(leader, part)))
  const refused = outcomes.find(outcome => outcome.status === 'rejected')
  if (refused !== undefined) throw refused.reason
  const settled = outcomes.map(outcome => (outcome as PromiseFulfilledResult<Outcome>).value)
  return {
    unwritten: settled.flatMap(({ unwritten }) => unwritten),
    lastError: settled.map(({ lastError }) => lastError).findLast(text => text !== '') ?? '',
    instead: settled.find(({ instead }) => instead !== undefined)?.instead,
  }
}

/** Which batches are still to be written, by the answer's error codes. */
function judge(topic: string, batches: readonly EncodedBatch[], compression: Compression, answer: ProduceAnswer): Outcome {
  const unwritten: EncodedBatch[] = []
  let lastError = ''
  let instead: Compression | undefined
  for (const batch of batches) {
    const code = codeName(answer.get(batch.partition) ?? -1)
    // Written by an attempt whose answer was lost.
    if (code === undefined || code === 'DUPLICATE_SEQUENCE_NUMBER') continue
    lastError = `partition ${batch.partition}: ${code}`
    const other = compressionInstead(code, compression)
    instead ??= other
    if (other === undefined && !isPassingCode(code)) throw kafkaError(code, `writing to partition ${batch.partition} of ${topic}`)
    unwritten.push(batch)
  }
  return { unwritten, lastError, instead }
}
