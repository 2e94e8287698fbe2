/** The records of `anomaly-events`: written by the step that scores, read by those behind it. */
import type { Anomaly } from '../domain/anomalies/anomaly.ts'
import { isAnomaly } from '../domain/anomalies/anomaly-form.ts'
import { splitMembers } from '../json/text-members.ts'
import type { BusRecord } from '../ports/bus.ts'
import { encodeTextBefore } from './byte-slab.ts'
import { DEAD_LETTER_HEADERS } from './dead-letters/dead-letter.ts'
import { asBuffer, decodeCanonical, LAYOUT_HEADER, parseLayout, parseObject } from './flat-record-layout.ts'
import type { StepInput } from './outcome.ts'

/** Byte offset of the flat record in an anomaly event. */
const RECORD_HEADER = 'record'

/** On the event of an anomaly whose log document was written with its flags. */
const FLAGGED_HEADER = 'flagged'

/** The same event, for an anomaly whose log document has its flags: nobody need add them. */
export function withFlagsWritten(event: BusRecord): BusRecord {
  return { ...event, headers: { ...event.headers, [FLAGGED_HEADER]: '1' } }
}

export function areFlagsWritten({ headers }: Pick<StepInput, 'headers'>): boolean {
  return headers[FLAGGED_HEADER] !== undefined
}

/** The record of `anomaly-events` for an anomaly: its fields, and the flat record it was found in under `record`. */
export function encodeAnomalyEvent(anomaly: Anomaly, { value, headers }: StepInput): BusRecord {
  const key = `${anomaly.tenant_id}/${anomaly.service}`
  const room = value.length + 1
  const event = encodeTextBefore(`${JSON.stringify(anomaly).slice(0, -1)},"record":`, room)
  const fieldsLength = event.length - room
  event.set(value, fieldsLength)
  event[event.length - 1] = CLOSE_BRACE
  const layout = headers[LAYOUT_HEADER]
  const replayed = headers[DEAD_LETTER_HEADERS.replayed]
  const ownHeaders: Record<string, string> = { [RECORD_HEADER]: String(fieldsLength) }
  if (layout !== undefined) ownHeaders[LAYOUT_HEADER] = layout
  if (replayed !== undefined) ownHeaders[DEAD_LETTER_HEADERS.replayed] = replayed
  return { key, value: event, headers: ownHeaders }
}

/** The same with the canonical fields of the flat record alone, where the bus takes no event with all of it; undefined when they cannot be read. */
export function encodeSmallAnomalyEvent(anomaly: Anomaly, { key, value, headers }: StepInput): BusRecord | undefined {
  const canonical = decodeCanonical(value, parseLayout(headers[LAYOUT_HEADER], value))
  if (canonical === undefined) return undefined
  const note = `the attributes are left out here: with them the anomaly's event would be larger than the bus takes`
  const small = Buffer.from(JSON.stringify({ ...canonical, attributes: { 'logpipeline.cut': note } }))
  return encodeAnomalyEvent(anomaly, { key, value: small, headers: {} })
}

const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** An anomaly event taken apart. */
export interface AnomalyEvent {
  readonly anomaly: Anomaly
  /** The flat record it was found in. */
  readonly record: StepInput
}

/** Undefined when the event cannot be read. */
export function decodeAnomalyEvent({ key, value, headers }: StepInput): AnomalyEvent | undefined {
  const bytes = asBuffer(value)
  const start = recordStart(headers[RECORD_HEADER], bytes)
  try {
    if (start !== undefined) {
      const anomaly = parseAnomaly(`${bytes.toString('utf8', 0, start - ',"record":'.length)}}`)
      return anomaly && { anomaly, record: { key, value: bytes.subarray(start, bytes.length - 1), headers } }
    }
    const members = splitMembers(JSON.stringify(JSON.parse(bytes.toString())))
    const record = members.get('record')
    members.delete('record')
    const anomaly = parseAnomaly(`{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`)
    return anomaly && record !== undefined ? { anomaly, record: { key, value: Buffer.from(record), headers: {} } } : undefined
  } catch {
    // Not JSON: the caller makes a dead letter of it.
    return undefined
  }
}

function recordStart(header: string | undefined, bytes: Buffer): number | undefined {
  const start = Number(header)
  if (header === undefined || !Number.isInteger(start) || start < 12 || start >= bytes.length - 1) return undefined
  const fits =
    bytes[start] === OPEN_BRACE && bytes[bytes.length - 1] === CLOSE_BRACE && bytes.toString('latin1', start - 10, start) === ',"record":'
  return fits ? start : undefined
}

function parseAnomaly(json: string): Anomaly | undefined {
  const fields = parseObject(json)
  return fields !== undefined && isAnomaly(fields) ? (fields as unknown as Anomaly) : undefined
}
