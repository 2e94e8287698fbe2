import type { Anomaly } from '../anomalies/anomaly.ts'
import { wordsOfFields } from '../records/readable-text.ts'
import { GROUP_WINDOW_MS } from './anomaly-config.ts'

/** The part of an anomaly that grouping keeps. */
export type GroupedAnomaly = Pick<
  Anomaly,
  'id' | 'log_id' | 'timestamp' | 'tenant_id' | 'service' | 'level' | 'pattern_id' | 'pattern' | 'trace_id' | 'score' | 'signal'
> & {
  /** The words of a message that is a JSON object, or `logfmt`, masked: its pattern lacks what is quoted. Undefined for other messages. */
  readonly words?: string
}

const MAX_WORDS = 200

/** An anomaly of a service's recent past. */
export interface WindowMember {
  readonly anomaly: GroupedAnomaly
  /** Event time, ms since the epoch. */
  readonly atMs: number
  /** The incident it counts for; undefined while it waits for company. */
  incidentId: string | undefined
}

export function toMember(anomaly: Anomaly): WindowMember {
  const { id, log_id, timestamp, tenant_id, service, level, pattern_id, pattern, trace_id, score, signal, message } = anomaly
  const words = wordsOfFields(pattern, message)
  const slim = {
    ...{ id, log_id, timestamp, tenant_id, service, level, pattern_id, pattern, score },
    ...(trace_id !== undefined && { trace_id }),
    ...(signal !== undefined && { signal }),
    ...(words !== undefined && { words: words.slice(0, MAX_WORDS).toWellFormed() }),
  }
  return { anomaly: slim, atMs: Date.parse(timestamp), incidentId: undefined }
}

/**
 * The members that share a 5-minute window with `member`, itself among them: of all windows that hold it the fullest, of equally full
 * ones the earliest. In the order of `members`.
 */
export function windowAround(member: WindowMember, members: readonly WindowMember[]): readonly WindowMember[] {
  const near = members.filter(({ atMs }) => Math.abs(atMs - member.atMs) <= GROUP_WINDOW_MS)
  const times = near.map(({ atMs }) => atMs).sort((a, b) => a - b)
  if (times.at(-1)! - times[0]! <= GROUP_WINDOW_MS) return near
  let bestStart = times[0]!
  let bestCount = 0
  for (let from = 0, to = 0; from < times.length && times[from]! <= member.atMs; from++) {
    while (to < times.length && times[to]! - times[from]! <= GROUP_WINDOW_MS) to++
    if (to - from > bestCount) {
      bestCount = to - from
      bestStart = times[from]!
    }
  }
  return near.filter(({ atMs }) => atMs >= bestStart && atMs - bestStart <= GROUP_WINDOW_MS)
}
