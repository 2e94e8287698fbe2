/** Reads messages of the dead-letter queue. */
import { tenantIn } from '../../domain/tenants/tenant.ts'
import type { ConsumedRecord } from '../../ports/bus.ts'
import { DEAD_LETTER_HEADERS as HEADERS } from './dead-letter.ts'

/** One message of the dead-letter queue, read. */
export interface Letter {
  /** Its place in the queue: `<partition>/<offset>`. */
  readonly id: string
  /** When it was given up, ISO-8601. */
  readonly time: string
  /** The step that gave it up. */
  readonly stage: string
  readonly reason: string
  /** Where it was read from, and where a replay puts it. */
  readonly topic: string
  /** `<partition>/<offset>` in that topic. */
  readonly origin: string
  /** From the key, `<tenant>/<service>`. */
  readonly tenant: string
  readonly key: string
  /** When the bus first took the record, ms since the epoch; undefined in letters that do not say. */
  readonly receivedMs: string | undefined
  /** When it was replayed before it came back, ISO-8601; undefined: it was not. */
  readonly replayed: string | undefined
  /** Bytes of the original, of which `value` holds the first; undefined: it holds all. */
  readonly wholeBytes: number | undefined
  /** The original bytes. */
  readonly value: Uint8Array
}

/** Undefined for a message that says neither from where it came nor why: somebody else's. */
export function parseLetter({ partition, offset, key, value, headers, timestampMs }: ConsumedRecord): Letter | undefined {
  const topic = headers[HEADERS.topic]
  const stage = headers[HEADERS.stage]
  if (topic === undefined || stage === undefined) return undefined
  return {
    id: `${partition}/${offset}`,
    time: headers[HEADERS.time] ?? isoTime(timestampMs),
    stage,
    reason: headers[HEADERS.reason] ?? '',
    topic,
    origin: `${headers[HEADERS.partition] ?? '?'}/${headers[HEADERS.offset] ?? '?'}`,
    tenant: tenantIn(key),
    key,
    receivedMs: headers[HEADERS.received],
    replayed: headers[HEADERS.replayed],
    wholeBytes: headers[HEADERS.cut] === undefined ? undefined : Number(headers[HEADERS.cut]),
    value,
  }
}

/** A client may date its messages beyond what a date can say. */
function isoTime(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}

/** Which letters are meant: every condition that is given must hold. */
export interface LetterFilter {
  readonly tenant?: string | undefined
  readonly stage?: string | undefined
  /** Part of the reason, in any case. */
  readonly reason?: string | undefined
  readonly topic?: string | undefined
  /** First time that counts, ms since the epoch. */
  readonly sinceMs?: number | undefined
  /** First time that counts no more, ms since the epoch. */
  readonly untilMs?: number | undefined
}

export function matchesFilter(letter: Letter, filter: LetterFilter): boolean {
  const timeMs = Date.parse(letter.time)
  return (
    (filter.tenant === undefined || letter.tenant === filter.tenant) &&
    (filter.stage === undefined || letter.stage === filter.stage) &&
    (filter.topic === undefined || letter.topic === filter.topic) &&
    (filter.reason === undefined || letter.reason.toLowerCase().includes(filter.reason.toLowerCase())) &&
    (filter.sinceMs === undefined || timeMs >= filter.sinceMs) &&
    (filter.untilMs === undefined || timeMs < filter.untilMs)
  )
}
