/** The fields of a flat record that signals need, by their place in its text and from the parsed record: both give the same. */
import type { SignalFields } from '../domain/anomalies/signals/signal.ts'
import type { FlatRecord } from '../domain/records/flat-record-fields.ts'

export type FoundSignalFields = Pick<SignalFields, 'timeMs' | 'visitHash' | 'patternHash' | 'pattern'>

const TRACE_MARK = ',"trace_id":"'
const SPAN_MARK = ',"span_id":"'
const PATTERN_MARK = '","pattern":"'
const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
/** Digits of an id that its hash is made of: the last of a trace id, which are random where the first tell a time. */
const HASHED_DIGITS = 8
/** `{"document_id":"…","index_day":"…","@timestamp":"` */
const TIMESTAMP_AT = 93

/** The pattern's id begins at `patternId`, its closing quote is at `end`. */
export function findPattern(text: string, patternId: number, end: number): string {
  return text.slice(text.indexOf(PATTERN_MARK, patternId) + PATTERN_MARK.length, end)
}

export function hashPattern(text: string, patternId: number): number {
  return hashHex(text, patternId, HASHED_DIGITS)
}

export function signalFieldsOf({ '@timestamp': timestamp, trace_id, span_id, pattern_id, pattern }: FlatRecord): FoundSignalFields {
  return {
    timeMs: Date.parse(timestamp),
    visitHash: trace_id === undefined ? 0 : visitHash(hashEnd(trace_id), span_id === undefined ? 0 : hashEnd(span_id)),
    patternHash: hashPattern(pattern_id, 0),
    pattern: patternText(pattern),
  }
}

/** As it stands in JSON, its bytes as latin1. */
export function patternText(pattern: string): string {
  return Buffer.from(JSON.stringify(pattern).slice(1, -1)).toString('latin1')
}

const hashEnd = (id: string) => hashHex(id, id.length - HASHED_DIGITS, HASHED_DIGITS)

/** The hash of hexadecimal digits in bytes: of the last of an id, which ends at `end`. */
export function hashEndOf(bytes: Uint8Array, end: number): number {
  let hash = 0
  for (let at = end - HASHED_DIGITS; at < end; at++) hash = (hash << 4) ^ digitOf(bytes[at]!)
  return hash | 0
}

/** Joins the hashes of a trace and of a span, which is 0 where there is none. Never 0. */
export function visitHash(trace: number, span: number): number {
  return Math.imul(trace ^ Math.imul(span, 0x9e3779b1), 0x85ebca6b) | 1
}

/** The hash of the ids that stand right before the message, which begins at `messageMark`; 0 without a trace. */
export function findVisit(text: string, messageMark: number): number {
  const spanAt = messageMark - 1 - SPAN_DIGITS
  const hasSpan = text.startsWith(SPAN_MARK, spanAt - SPAN_MARK.length)
  const traceEnd = hasSpan ? spanAt - SPAN_MARK.length - 1 : messageMark - 1
  if (!text.startsWith(TRACE_MARK, traceEnd - TRACE_DIGITS - TRACE_MARK.length)) return 0
  const span = hasSpan ? hashHex(text, spanAt + SPAN_DIGITS - HASHED_DIGITS, HASHED_DIGITS) : 0
  return visitHash(hashHex(text, traceEnd - HASHED_DIGITS, HASHED_DIGITS), span)
}

/** The number that hexadecimal digits stand for; other text gives just some number. */
function hashHex(text: string, from: number, length: number): number {
  let hash = 0
  for (let at = from; at < from + length; at++) hash = (hash << 4) ^ digitOf(text.charCodeAt(at))
  return hash | 0
}

const digitOf = (code: number) => (code < 58 ? code - 48 : code - 87)

/** Records of one minute follow each other: it is parsed once. */
let lastMinute = ''
let lastMinuteMs = 0

export function findTime(text: string): number {
  if (lastMinute === '' || !text.startsWith(lastMinute, TIMESTAMP_AT)) {
    lastMinute = text.slice(TIMESTAMP_AT, TIMESTAMP_AT + 17)
    lastMinuteMs = Date.parse(`${lastMinute}00.000Z`)
  }
  const digit = (offset: number) => text.charCodeAt(TIMESTAMP_AT + offset) - 48
  return lastMinuteMs + digit(17) * 10_000 + digit(18) * 1_000 + digit(20) * 100 + digit(21) * 10 + digit(22)
}
