import type { BusRecord, ConsumedRecord } from '../ports/bus.ts'

/** Headers of a dead-letter message, why and from where it came; its value is the original bytes, unchanged (Decisions 8). */
export const DEAD_LETTER_HEADERS = {
  topic: 'dlq.topic',
  partition: 'dlq.partition',
  offset: 'dlq.offset',
  stage: 'dlq.stage',
  reason: 'dlq.reason',
  time: 'dlq.time',
} as const

const MAX_REASON_LENGTH = 2_000

/** The dead-letter message for `original`, which came with `record`. */
export function buildDeadLetter(record: ConsumedRecord, original: Uint8Array, stage: string, reason: string, nowMs: number): BusRecord {
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
    },
  }
}
