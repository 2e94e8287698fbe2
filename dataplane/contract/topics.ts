/** The message bus topics, with partitions and retention as the specification's Limits part states them. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const TOPICS = {
  raw: { name: 'raw-logs', setting: 'RAW_TOPIC', partitionsSetting: 'RAW_PARTITIONS', partitions: 6, retentionMs: 48 * HOUR_MS },
  enriched: {
    name: 'enriched-logs',
    setting: 'ENRICHED_TOPIC',
    partitionsSetting: 'ENRICHED_PARTITIONS',
    partitions: 6,
    retentionMs: 48 * HOUR_MS,
  },
  anomaly: {
    name: 'anomaly-events',
    setting: 'ANOMALY_TOPIC',
    partitionsSetting: 'ANOMALY_PARTITIONS',
    partitions: 3,
    retentionMs: 7 * DAY_MS,
  },
  deadLetter: {
    name: 'dead-letter-queue',
    setting: 'DEAD_LETTER_TOPIC',
    /** One partition keeps the order of letters. */
    partitionsSetting: undefined,
    partitions: 1,
    retentionMs: 30 * DAY_MS,
  },
} as const

/** A topic, as a bus adapter creates it. */
export interface TopicConfig {
  readonly name: string
  readonly partitions: number
  readonly retentionMs: number
  /** The embedded bus keeps records until these consumer groups have read them, even a group that has not begun yet. */
  readonly readers?: readonly string[]
}

/**
 * How far roles make topics in Kafka. `create`: they make those that are missing. `keep`: they set partitions and retention of the others as they should
 * be, too. `existing`: neither.
 */
export const TOPIC_MODES = ['create', 'keep', 'existing'] as const
export type TopicMode = (typeof TOPIC_MODES)[number]

/**
 * Kafka's `message.timestamp.type`: the broker's clock dates messages. By the sender's, Kafka 4 would refuse all from a machine whose clock is more
 * than an hour ahead, and would delete too early those from one that is behind.
 */
export const TIMESTAMP_TYPE = 'LogAppendTime'

/** Largest bus message, in bytes before compression (decisions section 3). */
export const MAX_BUS_MESSAGE_BYTES = 900 * 1024
/** A record, resource or scope with the text of so many messages fits none, even with all its edits left out: the rest of it is not worth any work. */
export const MAX_PART_BYTES = 2 * MAX_BUS_MESSAGE_BYTES
