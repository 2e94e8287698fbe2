/** The records of `dead-letter-queue`: the original bytes, with the reason and the origin as headers (Decisions 8). */
import { tenantOfKey } from '../../domain/tenants/tenant.ts'
import type { Bus, BusRecord, ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { sendFitting } from '../send-fitting.ts'

/** Steps that give records up. */
export const DEAD_LETTER_STAGES = ['etl', 'anomaly', 'indexer', 'lifecycle'] as const
export type DeadLetterStage = (typeof DEAD_LETTER_STAGES)[number]

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
  /** When the record was replayed last, ISO-8601; also on the replayed message and on what becomes of it. Absent: never. */
  replayed: 'dlq.replayed',
  /** Bytes of the original, where the value is only the beginning of it, or a batch of records that cannot be read. */
  cut: 'dlq.cut',
} as const

const MAX_REASON_LENGTH = 2_000
/** Largest value of a letter, in bytes: with its key and headers it fits where the largest message of `raw-logs` does, or a flat record. */
export const MAX_LETTER_BYTES = 962_560
/** Characters of a letter's key: more than a tenant and a service have. A key without end would leave no room for the letter. */
export const MAX_LETTER_KEY = 1_000
/** An ISO-8601 time is shorter. */
const MAX_TIME_LENGTH = 64
/** Letters that a bus refuses for their size are cut to a quarter each time, down to this. */
const LEAST_LETTER_BYTES = 256

/** The dead-letter message for `original`, which came with `record`. */
function buildDeadLetter(record: ConsumedRecord, original: Uint8Array, stage: DeadLetterStage, reason: string, nowMs: number): BusRecord {
  const replayed = replayedAt(record)
  const letter: BusRecord = {
    key: record.key.slice(0, MAX_LETTER_KEY),
    value: original,
    headers: {
      [DEAD_LETTER_HEADERS.topic]: record.topic,
      [DEAD_LETTER_HEADERS.partition]: String(record.partition),
      [DEAD_LETTER_HEADERS.offset]: String(record.offset),
      [DEAD_LETTER_HEADERS.stage]: stage,
      [DEAD_LETTER_HEADERS.reason]: reason.slice(0, MAX_REASON_LENGTH),
      [DEAD_LETTER_HEADERS.time]: new Date(nowMs).toISOString(),
      [DEAD_LETTER_HEADERS.received]: String(receivedAtMs(record)),
      ...(replayed !== undefined && { [DEAD_LETTER_HEADERS.replayed]: replayed }),
      // Not a message: nothing that a replay could send.
      ...(record.unreadable !== undefined && { [DEAD_LETTER_HEADERS.cut]: String(original.length) }),
    },
  }
  return original.length > MAX_LETTER_BYTES ? cutLetter(letter, MAX_LETTER_BYTES) : letter
}

/** The letter with the first bytes of its value alone, and a note of it. */
function cutLetter(letter: BusRecord, bytes: number): BusRecord {
  const whole = letter.headers?.[DEAD_LETTER_HEADERS.cut] ?? String(letter.value.length)
  return { ...letter, value: letter.value.subarray(0, bytes), headers: { ...letter.headers, [DEAD_LETTER_HEADERS.cut]: whole } }
}

/** When the bus first took the record, ms since the epoch: a replayed dead letter keeps that time, so that a second pass gives the same result. */
export function receivedAtMs({ headers, timestampMs }: Pick<ConsumedRecord, 'headers' | 'timestampMs'>): number {
  const received = headers[DEAD_LETTER_HEADERS.received]
  return received !== undefined && /^\d{1,15}$/.test(received) ? Number(received) : timestampMs
}

/** When the record was replayed last, ISO-8601; undefined: never, as far as can be told. */
export function replayedAt({ headers }: Pick<ConsumedRecord, 'headers'>): string | undefined {
  const replayed = headers[DEAD_LETTER_HEADERS.replayed]
  return replayed !== undefined && replayed.length <= MAX_TIME_LENGTH ? replayed : undefined
}

/** Collects the dead letters of one batch. */
export interface DeadLetters {
  /** `original`: the part of the record that could not be processed; default: all of it. */
  add(record: ConsumedRecord, reason: string, original?: Uint8Array): void
  /** Resolves once all that were added are durable; says in the log that there were some. May be called again for more. */
  send(): Promise<void>
  /** Adds the letters sent to the count, by tenant: once the batch is committed. */
  count(): void
}

/** Counts letters by the step that gave up and the tenant. */
export type CountDeadLetters = (stage: string, tenant: string, letters: number) => void

export interface DeadLetterDeps {
  readonly bus: Pick<Bus, 'send'>
  readonly topic: string
  readonly stage: DeadLetterStage
  readonly clock: Clock
  readonly log: Log
  readonly countDeadLetters?: CountDeadLetters | undefined
}

export function collectDeadLetters({ bus, topic, stage, clock, log, countDeadLetters }: DeadLetterDeps): DeadLetters {
  let letters: BusRecord[] = []
  let firstReason = ''
  const sent = new Map<string, number>()

  /** Whatever its size: a letter that the bus does not take is cut until it does. */
  const sendCut = async (letter: BusRecord) => {
    for (let bytes = letter.value.length >> 2; ; bytes >>= 2) {
      const cut = cutLetter(letter, bytes < LEAST_LETTER_BYTES ? 0 : bytes)
      if ((await sendFitting(bus, topic, [cut])).length === 0) return
      if (cut.value.length > 0) continue
      log.error({ stage, headers: letter.headers }, 'the dead-letter queue takes not even the note of this record')
      return
    }
  }

  return {
    add(record, reason, original = record.value) {
      if (letters.length === 0) firstReason = reason
      letters.push(buildDeadLetter(record, original, stage, reason, clock.nowMs()))
    },
    async send() {
      if (letters.length === 0) return
      const sending = letters
      letters = []
      log.warn({ stage, records: sending.length, reason: firstReason }, 'records go to the dead-letter queue')
      for (const position of await sendFitting(bus, topic, sending)) await sendCut(sending[position]!)
      for (const { key } of sending) {
        const tenant = tenantOfKey(key) ?? ''
        sent.set(tenant, (sent.get(tenant) ?? 0) + 1)
      }
    },
    count() {
      for (const [tenant, amount] of sent) countDeadLetters?.(stage, tenant, amount)
      sent.clear()
    },
  }
}
