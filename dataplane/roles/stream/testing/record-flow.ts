import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openKafkaBus } from '../../../adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { TOPICS } from '../../../contract/topics.ts'
import type { Bus, ConsumedRecord } from '../../../ports/bus.ts'
import { backendAddress } from '../../../testing/real/address.ts'

const RECORDS_PER_MESSAGE = 5
const SERVICES = 7
/** Every tenth record is an anomaly by rule: ERROR (0.3) and a refused connection (0.2). */
export const isAnomalous = (record: number) => record % 10 === 3
/** Records that come in one message are of one service. */
export const serviceOf = (record: number) => `service-${Math.floor(record / RECORDS_PER_MESSAGE) % SERVICES}`

/** Records that go through topics of their own, and what comes out of them. */
export interface RecordFlow {
  /** Settings by which roles work on these topics. */
  readonly settings: Readonly<Record<string, string>>
  /** Writes `count` more records to `raw-logs`; resolves with how many there are in all. */
  give(count: number): Promise<number>
  /** Gives `perSecond` records a second until told to stop; resolves with how many there are in all. */
  pour(perSecond: number): () => Promise<number>
  /** The output so far: how often each record is in `enriched-logs` and in `anomaly-events`, by its number. */
  readonly enriched: ReadonlyMap<number, number>
  readonly anomalies: ReadonlyMap<number, number>
  /** Resolves once everything that was given is in `enriched-logs`, and its anomalies in `anomaly-events`, and nothing more has come for a while. */
  untilThrough(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

/** Longer than a broker is away: a message that is sent again under another identity could be there twice. */
const DELIVERY_TIMEOUT_MS = 180_000

export async function startFlow(kafka: 'kafka' | 'kafka-3' = 'kafka'): Promise<RecordFlow> {
  const id = randomUUID().slice(0, 8)
  const names = {
    RAW_TOPIC: `raw-${id}`,
    ENRICHED_TOPIC: `enriched-${id}`,
    ANOMALY_TOPIC: `anomaly-${id}`,
    DEAD_LETTER_TOPIC: `dead-${id}`,
  }
  const topics = Object.values(TOPICS).map(({ setting, partitions, retentionMs }) => ({ name: names[setting], partitions, retentionMs }))
  const brokers = backendAddress(kafka)
  const bus = await openKafkaBus({ brokers: brokers.split(','), clock: systemClock, topics, deliveryTimeoutMs: DELIVERY_TIMEOUT_MS })
  const stop = new AbortController()
  const enriched = new Map<number, number>()
  const anomalies = new Map<number, number>()
  const readers = [readInto(bus, names.ENRICHED_TOPIC, enriched, stop.signal), readInto(bus, names.ANOMALY_TOPIC, anomalies, stop.signal)]
  let given = 0
  const give = async (count: number) => {
    const messages = Array.from({ length: Math.ceil(count / RECORDS_PER_MESSAGE) }, (_, i) => {
      const size = Math.min(RECORDS_PER_MESSAGE, count - i * RECORDS_PER_MESSAGE)
      return message(Array.from({ length: size }, () => given++))
    })
    await bus.send(names.RAW_TOPIC, messages)
    return given
  }
  const expectedAnomalies = () => {
    let expected = 0
    for (let record = 0; record < given; record++) if (isAnomalous(record)) expected++
    return expected
  }
  return {
    settings: { BUS_BROKERS: brokers, ...names },
    enriched,
    anomalies,
    give,
    pour(perSecond) {
      let isPouring = true
      const done = (async () => {
        while (isPouring) {
          await give(perSecond / 10)
          await sleep(100)
        }
        return given
      })()
      return () => {
        isPouring = false
        return done
      }
    },
    async untilThrough(timeoutMs) {
      const deadlineMs = Date.now() + timeoutMs
      while (enriched.size < given || anomalies.size < expectedAnomalies()) {
        if (Date.now() > deadlineMs)
          throw new Error(
            `${enriched.size} of ${given} records and ${anomalies.size} of ${expectedAnomalies()} anomalies after ${timeoutMs} ms`,
          )
        await sleep(100)
      }
      // A second copy may come later.
      await sleep(2_000)
    },
    async close() {
      stop.abort()
      await Promise.all(readers)
      await bus.stop()
    },
  }
}

/** Messages of one service each, keyed as the collector does it. */
function message(records: readonly number[]) {
  const service = serviceOf(records[0]!)
  const logRecords = records.map(record => ({
    timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + BigInt(record % 1_000_000)}`,
    severityText: isAnomalous(record) ? 'ERROR' : 'INFO',
    body: { stringValue: isAnomalous(record) ? `connection refused #${record}#` : `all is well #${record}#` },
  }))
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  return { key: `default/${service}`, value: Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })) }
}

/** Counts each record that a transaction has committed. */
async function readInto(bus: Bus, topic: string, counts: Map<number, number>, signal: AbortSignal): Promise<void> {
  const subscription = await bus.subscribe({ groupId: `reader of ${topic}`, topics: [topic] })
  while (!signal.aborted) {
    const records: readonly ConsumedRecord[] = await subscription.poll({ maxRecords: 5_000, maxBytes: 8 << 20, waitMs: 100 })
    for (const { value } of records) {
      const record = Number(/#(\d+)#/.exec(Buffer.from(value).toString())?.[1])
      counts.set(record, (counts.get(record) ?? 0) + 1)
    }
  }
  await subscription.close()
}
