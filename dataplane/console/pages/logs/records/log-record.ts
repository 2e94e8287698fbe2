/** A record as the store answers it, and its fields as the page shows them. */
import { withoutTerminalCodes } from '../../../../domain/records/terminal-codes.ts'
import { isJsonObject } from '../../../../json/is-json-object.ts'
import { ExactNumber } from '../../../api/exact-json.ts'
import { formatDay, formatTime } from '../../../components/format.ts'
import { clockOffsetMs } from '../../../components/time/clock.ts'
import type { SortValues } from '../requests/scope.ts'
import { MAX_FIELD_LENGTH } from '../search/tokens.ts'

export interface LogRecord {
  /** The id of its document. */
  readonly id: string
  readonly index: string
  readonly sort: SortValues
  readonly timestampMs: number
  readonly level: string
  readonly service: string
  /** Without the colours of a terminal, which `source` has. */
  readonly message: string
  readonly source: Readonly<Record<string, unknown>>
}

interface Hit {
  readonly _id: string
  readonly _index: string
  readonly _source: Readonly<Record<string, unknown>>
  readonly sort?: SortValues
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

export function readRecords(answer: unknown): readonly LogRecord[] {
  return ((answer as { hits?: { hits?: readonly Hit[] } })?.hits?.hits ?? []).map(readRecord)
}

export function readRecord({ _id, _index, _source, sort = [] }: Hit): LogRecord {
  return {
    id: _id,
    index: _index,
    sort,
    timestampMs: Date.parse(text(_source['timestamp'])),
    level: text(_source['level']),
    service: text(_source['service']),
    message: withoutTerminalCodes(text(_source['message'])),
    source: _source,
  }
}

export interface FieldValue {
  /** As the search names it. */
  readonly field: string
  readonly value: string
  /** Whether a search can ask for it. */
  readonly isSearchable: boolean
}

/** Fields that others say already, or that speak of the pipeline. */
const LAST = new Set(['time_unix_nano', 'nanos', 'enriched', 'severity_number', 'tenant_id', 'log_id', 'pattern_id', 'pattern'])
const FIRST = ['timestamp', 'level', 'service', 'host', 'environment', 'region', 'trace_id', 'span_id']
const NOT_SEARCHABLE = new Set(['timestamp', 'time_unix_nano', 'pattern', 'message'])

/** Below this many levels an object is shown as JSON. */
const MAX_DEPTH = 5
/** Fields of a record that are shown. */
const MAX_SHOWN_FIELDS = 1_000

/** In every record, or about how it was sent. */
const SAYS_NOTHING = new Set([
  ...['is_anomaly', 'anomaly_score', 'rule_score', 'severity_text', 'batch_id', 'record.ordinal', 'otel.scope.name', 'otel.scope.version'],
])
/** Most fields below it repeat a canonical one. */
const BESIDE_CANONICAL = 'attributes.'

/** The sender's own fields, as `key=value` with spaces between. */
export function ownFieldsOf(record: LogRecord): string {
  return fieldsOf(record)
    .filter(({ field }) => rankOf(field) === OWN_RANK && !SAYS_NOTHING.has(field) && !field.startsWith(BESIDE_CANONICAL))
    .map(({ field, value }) => `${field}=${value}`)
    .join(' ')
}

/** All fields of a record but the message: canonical ones, the sender's own by name, those of the pipeline. */
export function fieldsOf(record: LogRecord): readonly FieldValue[] {
  const fields: FieldValue[] = []
  collect('', record.source, 0, fields)
  return fields
    .filter(({ field }) => field !== 'message')
    .sort((a, b) => rankOf(a.field) - rankOf(b.field) || (a.field < b.field ? -1 : 1))
    .slice(0, MAX_SHOWN_FIELDS)
}

const OWN_RANK = 1_000
const LAST_RANK = 2_000

function rankOf(name: string): number {
  const first = FIRST.indexOf(name)
  if (first >= 0) return first
  return LAST.has(name) || name.startsWith('ml_') ? LAST_RANK : OWN_RANK
}

function collect(prefix: string, object: Readonly<Record<string, unknown>>, depth: number, into: FieldValue[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (into.length > MAX_SHOWN_FIELDS) return
    const field = `${prefix}${name}`
    if (isObject(value) && depth < MAX_DEPTH) collect(`${field}.`, value, depth + 1, into)
    else into.push({ field, value: text(value) === '' && value !== '' ? '' : showValue(value), isSearchable: isSearchable(field, value) })
  }
}

function isSearchable(field: string, value: unknown): boolean {
  const isValue = typeof value !== 'object' || value instanceof ExactNumber
  return canBeNamed(field) && !NOT_SEARCHABLE.has(field) && isValue && String(value).length <= 1_024
}

/** Whether the search box, which has one line, can hold the name. */
function canBeNamed(field: string): boolean {
  return field !== '' && field.length <= MAX_FIELD_LENGTH && !/\p{Cc}/u.test(field)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && !(value instanceof ExactNumber)
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The value of a column: a dotted name may be one key, or a way through objects. */
export function valueAt(source: Readonly<Record<string, unknown>>, field: string): string {
  if (Object.hasOwn(source, field)) return text(source[field])
  for (let dot = field.lastIndexOf('.'); dot > 0; dot = field.lastIndexOf('.', dot - 1)) {
    const inner = source[field.slice(0, dot)]
    if (isObject(inner)) return valueAt(inner, field.slice(dot + 1))
  }
  return ''
}

/** With all the fraction digits that the record has. */
export function exactTime(record: LogRecord): string {
  return text(record.source['timestamp'])
}

/** `10:42:07.183` by the clock of the console; `22 Nov` before it where days differ. */
export function clockTime(ms: number, withDay: boolean): string {
  if (!Number.isFinite(ms)) return '–'
  const clock = formatTime(ms).slice(11)
  return withDay ? `${formatDay(new Date(ms)).padStart(6, '0')} ${clock}` : clock
}

/** The time of a record as the table has it, where its clock is another than that of `exactTime`; elsewhere empty. */
export function timeHere(ms: number): string {
  return Number.isFinite(ms) && clockOffsetMs(ms) !== 0 ? `${clockTime(ms, true)} here` : ''
}
