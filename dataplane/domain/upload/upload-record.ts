/** One entry of an upload as an OTLP log record (Spec: Access patterns; Decisions 7). */
import type { AnyValue, KeyValue, LogRecord } from '../../otlp/payload.ts'
import { normaliseId } from '../records/log-id.ts'
import { WholeDouble } from './parse-entry.ts'
import { parseUploadTime } from './upload-time.ts'

export interface UploadedRecord {
  /** `service.name` and `host.name` of its resource. */
  readonly service: string | undefined
  readonly host: string | undefined
  readonly record: LogRecord
}

/** The attribute that tells lines apart which are equal in all else, and where in the file a record stood. */
export const LINE_ATTRIBUTE = 'batch_line'

type Entry = Readonly<Record<string, unknown>>

/** The record of the entry at `line` of a file that came at `uploadNanos`. */
export function toLogRecord(entry: Entry, line: number, uploadNanos: bigint): UploadedRecord {
  const used = new Set<string>()
  /** The first of the fields that means something; the others become attributes. */
  const take = <T>(names: readonly string[], read: (value: unknown, name: string) => T | undefined): T | undefined => {
    for (const name of names) {
      const value = Object.hasOwn(entry, name) ? read(entry[name], name) : undefined
      if (value === undefined) continue
      used.add(name)
      return value
    }
    return undefined
  }
  const body = take(['message', 'msg', 'body', 'log'], toAnyValue)
  const severity = take(['level', 'severity'], readSeverity)
  const time = take(['timestamp', 'time', 'ts', '@timestamp'], parseUploadTime)
  const service = take(['service'], readName)
  const host = take(['host'], readName)
  const traceId = take(['trace_id', 'traceId'], value => readId(value, 32))
  const spanId = take(['span_id', 'spanId'], value => readId(value, 16))
  const attributes = toKeyValues(Object.entries(entry).filter(([name]) => !used.has(name)))
  return {
    service,
    host,
    record: {
      timeUnixNano: String(time ?? uploadNanos + BigInt(line)),
      observedTimeUnixNano: String(uploadNanos),
      ...severity,
      ...(body !== undefined && { body }),
      attributes: [...attributes, { key: LINE_ATTRIBUTE, value: { intValue: String(line) } }],
      ...(traceId !== undefined && { traceId }),
      ...(spanId !== undefined && { spanId }),
    },
  }
}

/** Levels of loggers that count in tens (pino, bunyan). */
const LEVELS_IN_TENS: Readonly<Record<number, string>> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' }

/** `severity` counts from 1 to 24 as OTLP does; in `level`, tens are a logger's own. */
function readSeverity(value: unknown, name: string): Pick<LogRecord, 'severityText' | 'severityNumber'> | undefined {
  if (typeof value === 'string' && value.trim() !== '') {
    const text = value.trim()
    return /^\d{1,2}$/.test(text) ? readSeverity(Number(text), name) : { severityText: text }
  }
  if (typeof value !== 'number') return undefined
  const isOtlp = value >= 1 && value <= 24 && Number.isInteger(value)
  const inTens = LEVELS_IN_TENS[value]
  if (inTens !== undefined && (name === 'level' || !isOtlp)) return { severityText: inTens }
  return isOtlp ? { severityNumber: value } : undefined
}

function readName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function readId(value: unknown, digits: 16 | 32): string | undefined {
  return typeof value === 'string' ? normaliseId(value, digits) || undefined : undefined
}

function toKeyValues(entries: readonly (readonly [string, unknown])[]): readonly KeyValue[] {
  return entries.flatMap(([key, member]) => {
    const value = toAnyValue(member)
    return value === undefined ? [] : [{ key, value }]
  })
}

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** Undefined for null, which says nothing. */
function toAnyValue(value: unknown): AnyValue | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : doubleValue(value)
  if (typeof value === 'bigint') return value >= MIN_INT64 && value <= MAX_INT64 ? { intValue: String(value) } : doubleValue(Number(value))
  if (value instanceof WholeDouble) return doubleValue(value.value)
  if (Array.isArray(value)) return { arrayValue: { values: value.map(item => toAnyValue(item) ?? {}) } }
  return { kvlistValue: { values: toKeyValues(Object.entries(value)) } }
}

/** A number that a double does not hold, such as 1e999, is infinite. */
function doubleValue(value: number): AnyValue {
  return { doubleValue: Number.isFinite(value) ? value : String(value) }
}
