import type { Bus, BusRecord, ConsumedRecord } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'

/** Headers of a dead-letter message, why and from where it came; its value is the original bytes, unchanged (Decisions 8). */
export const DEAD_LETTER_HEADERS = {
  topic: 'dlq.topic',
  partition: 'dlq.partition',
  offset: 'dlq.offset',
  stage: 'dlq.stage',
  reason: 'dlq.reason',
  time: 'dlq.time',
  /** When the bus first took the record, ms since the epoch; also on the replayed message. */
  received: 'dlq.received',
} as const

const MAX_REASON_LENGTH = 2_000

/** The dead-letter message for `original`, which came with `record`. */
function buildDeadLetter(record: ConsumedRecord, original: Uint8Array, stage: string, reason: string, nowMs: number): BusRecord {
  return {
    key: record.key,
    value: original,
    headers: {
      [DEAD_LETTER_HEADERS.topic]: record.topic,
      [DEAD_LETTER_HEADERS.partition]: String(record.partition),
      [DEAD_LETTER_HEADERS.offset]: String(record.offset),
      [DEAD_LETTER_HEADERS.stage]: stage,
      [DEAD_LETTER_HEADERS.reason]: reason.slice(0, MAX_REASON_LENGTH),
      [DEAD_LETTER_HEADERS.time]: new Date(nowMs).toISOString(),
      [DEAD_LETTER_HEADERS.received]: String(receivedAtMs(record)),
    },
  }
}

/** When the bus first took the record, ms since the epoch: a replayed dead letter keeps that time, so that a second pass gives the same result. */
export function receivedAtMs({ headers, timestampMs }: Pick<ConsumedRecord, 'headers' | 'timestampMs'>): number {
  const received = headers[DEAD_LETTER_HEADERS.received]
  return received !== undefined && /^\d{1,15}$/.test(received) ? Number(received) : timestampMs
}

/** What of one batch goes to the dead-letter queue. */
export interface DeadLetters {
  /** `original`: the part of the record that could not be processed; default: all of it. */
  add(record: ConsumedRecord, reason: string, original?: Uint8Array): void
  /** Resolves once all are durable; says in the log that there were some. */
  send(): Promise<void>
}

export interface DeadLetterDeps {
  readonly bus: Pick<Bus, 'send'>
  readonly topic: string
  /** The step that gives up: `etl`, `indexer` … */
  readonly stage: string
  readonly clock: Clock
  readonly log: Log
}

export function collectDeadLetters({ bus, topic, stage, clock, log }: DeadLetterDeps): DeadLetters {
  const letters: BusRecord[] = []
  let firstReason = ''
  return {
    add(record, reason, original = record.value) {
      if (letters.length === 0) firstReason = reason
      letters.push(buildDeadLetter(record, original, stage, reason, clock.nowMs()))
    },
    async send() {
      if (letters.length === 0) return
      log.warn({ stage, records: letters.length, reason: firstReason }, 'records go to the dead-letter queue')
      await bus.send(topic, letters)
    },
  }
}
