/** Tags (field number × 8 + wire type) of opentelemetry/proto/logs/v1, and the JSON that each field starts with. */
import { buildPiece, type Piece } from '../write/json-writer.ts'
import { Wire } from './wire-reader.ts'

const varint = (field: number) => field * 8 + Wire.varint
const fixed64 = (field: number) => field * 8 + Wire.fixed64
const bytes = (field: number) => field * 8 + Wire.bytes
const fixed32 = (field: number) => field * 8 + Wire.fixed32

export const REQUEST = { resourceLogs: bytes(1) } as const
export const RESOURCE_LOGS = { resource: bytes(1), scopeLogs: bytes(2), schemaUrl: bytes(3) } as const
export const SCOPE_LOGS = { scope: bytes(1), logRecords: bytes(2), schemaUrl: bytes(3) } as const
export const RESOURCE = { attributes: bytes(1), droppedAttributesCount: varint(2) } as const
export const SCOPE = { name: bytes(1), version: bytes(2), attributes: bytes(3), droppedAttributesCount: varint(4) } as const
export const KEY_VALUE = { key: bytes(1), value: bytes(2) } as const
export const VALUES = { values: bytes(1) } as const
export const ANY_VALUE = {
  stringValue: bytes(1),
  boolValue: varint(2),
  intValue: varint(3),
  doubleValue: fixed64(4),
  arrayValue: bytes(5),
  kvlistValue: bytes(6),
  bytesValue: bytes(7),
} as const
export const LOG_RECORD = {
  timeUnixNano: fixed64(1),
  severityNumber: varint(2),
  severityText: bytes(3),
  body: bytes(5),
  attributes: bytes(6),
  droppedAttributesCount: varint(7),
  flags: fixed32(8),
  traceId: bytes(9),
  spanId: bytes(10),
  observedTimeUnixNano: fixed64(11),
  eventName: bytes(12),
} as const

/** The names of a message's fields, each as `"name":`. */
function namesOf<T extends Readonly<Record<string, number>>>(message: T): { readonly [K in keyof T]: Piece } {
  const pieces = Object.keys(message).map(name => [name, buildPiece(`"${name}":`)])
  return Object.fromEntries(pieces) as { readonly [K in keyof T]: Piece }
}

export const REQUEST_NAMES = namesOf(REQUEST)
export const RESOURCE_LOGS_NAMES = namesOf(RESOURCE_LOGS)
export const SCOPE_LOGS_NAMES = namesOf(SCOPE_LOGS)
export const RESOURCE_NAMES = namesOf(RESOURCE)
export const SCOPE_NAMES = namesOf(SCOPE)
export const KEY_VALUE_NAMES = namesOf(KEY_VALUE)
export const VALUES_NAMES = namesOf(VALUES)
export const ANY_VALUE_NAMES = namesOf(ANY_VALUE)
export const LOG_RECORD_NAMES = namesOf(LOG_RECORD)
