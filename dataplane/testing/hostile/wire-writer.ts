/** Writes OTLP payloads in protobuf by hand, so that a request can also say what no library would. */
import type {
  AnyValue,
  InstrumentationScope,
  KeyValue,
  LogRecord,
  LogsPayload,
  Resource,
  ResourceLogs,
  ScopeLogs,
} from '../../otlp/payload.ts'

export function varint(value: bigint | number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

/** Field of wire type 2. */
export function block(field: number, ...content: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

export function integerField(field: number, value: bigint | number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

function fixed64Field(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value))
  return Buffer.concat([varint(field * 8 + 1), bytes])
}

function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return Buffer.concat([varint(field * 8 + 1), bytes])
}

const text = (field: number, value: string | undefined) => (value === undefined ? [] : [block(field, Buffer.from(value))])
const whole = (value: string | number): bigint => {
  try {
    return BigInt(value)
  } catch {
    return 0n // protobuf has no such number
  }
}

export function encodeValue(value: AnyValue): Buffer {
  if (value.stringValue !== undefined) return block(1, Buffer.from(value.stringValue))
  if (value.boolValue !== undefined) return integerField(2, value.boolValue ? 1 : 0)
  if (value.intValue !== undefined) return integerField(3, whole(value.intValue))
  if (value.doubleValue !== undefined) return doubleField(4, Number(value.doubleValue))
  if (value.arrayValue !== undefined) return block(5, ...(value.arrayValue.values ?? []).map(each => block(1, encodeValue(each))))
  if (value.kvlistValue !== undefined) return block(6, ...(value.kvlistValue.values ?? []).map(each => encodeAttribute(1, each)))
  return value.bytesValue === undefined ? Buffer.alloc(0) : block(7, Buffer.from(value.bytesValue, 'base64'))
}

function encodeAttribute(field: number, { key, value }: KeyValue): Buffer {
  return block(field, ...text(1, key), ...(value === undefined ? [] : [block(2, encodeValue(value))]))
}

const attributes = (field: number, list: readonly KeyValue[] = []) => list.map(each => encodeAttribute(field, each))
const encodeResource = (resource: Resource) => block(1, ...attributes(1, resource.attributes))
const encodeScope = (scope: InstrumentationScope) =>
  block(1, ...text(1, scope.name), ...text(2, scope.version), ...attributes(3, scope.attributes))

export function encodeRecord(record: LogRecord): Buffer {
  const { timeUnixNano, observedTimeUnixNano, severityNumber, body, flags, traceId, spanId } = record
  return block(
    2,
    ...(timeUnixNano === undefined ? [] : [fixed64Field(1, whole(timeUnixNano))]),
    ...(observedTimeUnixNano === undefined ? [] : [fixed64Field(11, whole(observedTimeUnixNano))]),
    ...(severityNumber === undefined ? [] : [integerField(2, severityNumber)]),
    ...text(3, record.severityText),
    ...(body === undefined ? [] : [block(5, encodeValue(body))]),
    ...attributes(6, record.attributes),
    ...(flags === undefined ? [] : [Buffer.from([0x45, 1, 0, 0, 0])]),
    ...(traceId === undefined ? [] : [block(9, Buffer.from(traceId, 'hex'))]),
    ...(spanId === undefined ? [] : [block(10, Buffer.from(spanId, 'hex'))]),
    ...text(12, record.eventName),
  )
}

const encodeScopeLogs = ({ scope, logRecords = [] }: ScopeLogs) =>
  block(2, ...(scope === undefined ? [] : [encodeScope(scope)]), ...logRecords.map(encodeRecord))
const encodeResourceLogs = ({ resource, scopeLogs = [] }: ResourceLogs) =>
  block(1, ...(resource === undefined ? [] : [encodeResource(resource)]), ...scopeLogs.map(encodeScopeLogs))

export function encodePayload({ resourceLogs = [] }: LogsPayload): Buffer {
  return Buffer.concat(resourceLogs.map(encodeResourceLogs))
}
