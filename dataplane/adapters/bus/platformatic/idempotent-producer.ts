import type { Connection } from '@platformatic/kafka'
import { backOffMs } from '../../../limits/back-off.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { BusError } from '../../../ports/bus.ts'
import { kafkaError } from '../kafka/kafka-errors.ts'
import type { PartitionBatches } from '../kafka/send-queue.ts'
import { PRODUCE } from './apis.ts'
import type { Cluster } from './cluster.ts'
import { type EncodedBatch, encodeBatch, encodeProduce } from './produce-request.ts'
import { answerIn, codeName, isPassing, isPassingCode, messageOf } from './protocol-errors.ts'

/** Identity of a producer towards Kafka, and what it has written: batches that are sent again are recognised by it. */
export interface ProducerSession {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly transactionalId: string | null
  /** Next number by partition. */
  readonly sequences: Map<string, number>
}

interface Unwritten extends EncodedBatch {
  readonly count: number
}

type ProduceAnswer = ReturnType<(typeof PRODUCE)[number]['parseResponse']>

const BACK_OFF = { firstMs: 20, maxMs: 500 }

/**
 * Writes one batch per partition with `acks=all`. What one broker refuses for now is sent again to whoever leads then, under the same numbers,
 * so nothing is written twice. Rejects when that did not end well until `deadlineMs`: the session must not be used again.
 */
export async function produce(
  cluster: Cluster,
  session: ProducerSession,
  topic: string,
  batches: PartitionBatches,
  deadlineMs: number,
): Promise<void> {
  const { clock } = cluster.settings
  const encoded = encodeAll(session, topic, batches, clock.nowMs())
  let left = encoded
  let failures = 0
  for (;;) {
    const before = left.length
    const { unwritten, lastError } = await produceOnce(cluster, session, topic, left)
    left = unwritten
    if (left.length === 0) break
    failures = left.length < before ? 1 : failures + 1
    const backoffMs = backOffMs(BACK_OFF, failures)
    if (clock.nowMs() + backoffMs > deadlineMs || cluster.isClosed) throw new BusError('unavailable', `writing to ${topic}: ${lastError}`)
    await clock.sleep(backoffMs)
    await cluster.refresh().catch(() => undefined) // then the next attempt fails, and says why
  }
  for (const { bytes } of encoded) releaseBytes(bytes) // the request was a copy of them
  for (const [partition, records] of batches) {
    const key = `${topic}/${partition}`
    session.sequences.set(key, nextSequence(session.sequences.get(key) ?? 0, records.length))
  }
}

/** Numbers start over after 2^31 - 1. */
const nextSequence = (sequence: number, count: number) => (sequence + count) % 0x80000000

function encodeAll(session: ProducerSession, topic: string, batches: PartitionBatches, nowMs: number): readonly Unwritten[] {
  const { producerId, producerEpoch, transactionalId, sequences } = session
  return [...batches].map(([partition, records]) => {
    const baseSequence = sequences.get(`${topic}/${partition}`) ?? 0
    const identity = { producerId, producerEpoch, baseSequence, isTransactional: transactionalId !== null }
    return { partition, count: records.length, bytes: encodeBatch(records, identity, nowMs) }
  })
}

interface Outcome {
  readonly unwritten: readonly Unwritten[]
  readonly lastError: string
}

/** One request to each broker that leads some of the partitions. Rejects only for what will never be written. */
async function produceOnce(cluster: Cluster, session: ProducerSession, topic: string, batches: readonly Unwritten[]): Promise<Outcome> {
  const { leaders } = cluster.topic(topic)
  const byLeader = Map.groupBy(batches, ({ partition }) => leaders[partition] ?? -1)
  const outcomes = await Promise.allSettled(
    [...byLeader].map(([leader, part]) =>
      leader < 0
        ? { unwritten: part, lastError: `no leader of partition ${part[0]!.partition}` }
        : produceAt(cluster, leader, session, topic, part),
    ),
  )
  const refused = outcomes.find(outcome => outcome.status === 'rejected')
  if (refused !== undefined) throw refused.reason
  const settled = outcomes.map(outcome => (outcome as PromiseFulfilledResult<Outcome>).value)
  return {
    unwritten: settled.flatMap(({ unwritten }) => unwritten),
    lastError: settled.map(({ lastError }) => lastError).findLast(text => text !== '') ?? '',
  }
}

async function produceAt(
  cluster: Cluster,
  leader: number,
  session: ProducerSession,
  topic: string,
  batches: readonly Unwritten[],
): Promise<Outcome> {
  try {
    const answer = await requestProduce(cluster, leader, session, topic, batches)
    return judge(topic, batches, answer)
  } catch (error) {
    if (!isPassing(error)) throw error
    return { unwritten: batches, lastError: messageOf(error) }
  }
}

/** Which batches are still to be written, by the answer's error codes. */
function judge(topic: string, batches: readonly Unwritten[], answer: ProduceAnswer): Outcome {
  const results = new Map(answer.responses.flatMap(({ partitionResponses }) => partitionResponses.map(result => [result.index, result])))
  const unwritten: Unwritten[] = []
  let lastError = ''
  for (const batch of batches) {
    const code = codeName(results.get(batch.partition)?.errorCode ?? -1)
    // Written by an attempt whose answer was lost.
    if (code === undefined || code === 'DUPLICATE_SEQUENCE_NUMBER') continue
    lastError = `partition ${batch.partition}: ${code}`
    if (!isPassingCode(code)) throw kafkaError(code, `writing to partition ${batch.partition} of ${topic}`)
    unwritten.push(batch)
  }
  return { unwritten, lastError }
}

async function requestProduce(
  cluster: Cluster,
  leader: number,
  session: ProducerSession,
  topic: string,
  batches: readonly EncodedBatch[],
): Promise<ProduceAnswer> {
  const connection: Connection = await cluster.connect(leader, 'produce')
  const chosen = await cluster.choose(connection, VERSIONS)
  // The broker gives up before this side does, so that its reason arrives.
  const timeoutMs = Math.floor(cluster.settings.requestTimeoutMs * 0.8)
  const { promise, resolve, reject } = Promise.withResolvers<ProduceAnswer>()
  const encode = () => encodeProduce(topic, batches, timeoutMs, session.transactionalId)
  connection.send(chosen.key, chosen.version, encode, chosen.parse, true, true, (error, answer) => {
    const partly = error === null ? answer : answerIn<ProduceAnswer>(error)
    if (partly === undefined) reject(error)
    else resolve(partly)
  })
  return promise
}

const VERSIONS = PRODUCE.map(({ api, parseResponse }) => ({
  key: api.key,
  version: api.version,
  parse: parseResponse as (typeof PRODUCE)[0]['parseResponse'],
}))
