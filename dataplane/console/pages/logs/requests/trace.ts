/** The records of a trace in their order, with the time that passes between them. */
import type { LogRecord } from '../records/log-record.ts'
import { recordOrder, type SearchBody } from './scope.ts'

/** Records of a trace that are shown. */
export const TRACE_SIZE = 1_000
const TRACE_ID = /^[0-9a-f]{32}$/i

export const isTraceId = (text: string): boolean => TRACE_ID.test(text)

/** At any time: a trace is looked for in all that is kept. */
export function traceBody(traceId: string): SearchBody {
  return {
    size: TRACE_SIZE,
    track_total_hits: true,
    query: { bool: { filter: [{ term: { trace_id: traceId.toLowerCase() } }] } },
    sort: recordOrder('oldest'),
  }
}

export interface TraceStep {
  readonly record: LogRecord
  /** Since the first record, in ms. */
  readonly offsetMs: number
  /** Since the record before, in ms. */
  readonly gapMs: number
  /** Whether the gap is one to look at: a tenth of the trace or more, and 10 ms at least. */
  readonly isGap: boolean
  /** Another service than that of the record before. */
  readonly isHandover: boolean
}

export interface Trace {
  readonly steps: readonly TraceStep[]
  readonly durationMs: number
  /** In the order in which they come. */
  readonly services: readonly string[]
}

/** With what lies below a millisecond. */
function preciseMs({ source, timestampMs }: LogRecord): number {
  const nanos = source['nanos']
  return timestampMs + (typeof nanos === 'number' ? nanos / 1e6 : 0)
}

export function readTrace(records: readonly LogRecord[]): Trace {
  const times = records.map(preciseMs)
  const start = times[0] ?? 0
  const durationMs = (times.at(-1) ?? start) - start
  const threshold = Math.max(10, durationMs / 10)
  const steps = records.map((record, at) => {
    const gapMs = at === 0 ? 0 : times[at]! - times[at - 1]!
    return {
      record,
      offsetMs: times[at]! - start,
      gapMs,
      isGap: gapMs >= threshold,
      isHandover: at > 0 && record.service !== records[at - 1]!.service,
    }
  })
  return { steps, durationMs, services: [...new Set(records.map(record => record.service))] }
}
