/** Writes a generated request as OTLP protobuf (opentelemetry/proto/collector/logs/v1). */
import type { GeneratedAttribute, GeneratedRecord, GeneratedRequest, GeneratedValue } from './generator.ts'

type Part = Buffer

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

export function encodeProtobuf(request: GeneratedRequest): Buffer {
  return Buffer.concat(
    request.resourceLogs.map(({ resource, scopeLogs }) =>
      message(1, [
        message(
          1,
          resource.attributes.map(attribute => keyValue(1, attribute)),
        ),
        ...scopeLogs.map(({ scope, logRecords }) => message(2, [message(1, [text(1, scope.name)]), ...logRecords.map(logRecord)])),
      ]),
    ),
  )
}

function logRecord(record: GeneratedRecord): Part {
  return message(2, [
    fixed64(1, BigInt(record.timeUnixNano)),
    varint(2, BigInt(record.severityNumber)),
    text(3, record.severityText),
    message(5, [text(1, record.body.stringValue)]),
    ...record.attributes.map(attribute => keyValue(6, attribute)),
    ...(record.flags === undefined ? [] : [fixed32(8, record.flags)]),
    ...(record.traceId === undefined ? [] : [bytes(9, Buffer.from(record.traceId, 'hex'))]),
    ...(record.spanId === undefined ? [] : [bytes(10, Buffer.from(record.spanId, 'hex'))]),
    fixed64(11, BigInt(record.observedTimeUnixNano)),
  ])
}

function keyValue(field: number, { key, value }: GeneratedAttribute): Part {
  return message(field, [text(1, key), message(2, [anyValue(value)])])
}

function anyValue(value: GeneratedValue): Part {
  if ('stringValue' in value) return text(1, value.stringValue)
  if ('intValue' in value) return varint(3, BigInt(value.intValue))
  const body = Buffer.alloc(8)
  body.writeDoubleLE(value.doubleValue)
  return Buffer.concat([tag(4, FIXED64), body])
}

function message(field: number, parts: readonly Part[]): Part {
  return bytes(field, Buffer.concat(parts))
}

function text(field: number, value: string): Part {
  return bytes(field, Buffer.from(value))
}

function bytes(field: number, value: Buffer): Part {
  return Buffer.concat([tag(field, BYTES), plainVarint(BigInt(value.length)), value])
}

function varint(field: number, value: bigint): Part {
  return Buffer.concat([tag(field, VARINT), plainVarint(value)])
}

function fixed64(field: number, value: bigint): Part {
  const body = Buffer.alloc(8)
  body.writeBigUInt64LE(value)
  return Buffer.concat([tag(field, FIXED64), body])
}

function fixed32(field: number, value: number): Part {
  const body = Buffer.alloc(4)
  body.writeUInt32LE(value)
  return Buffer.concat([tag(field, FIXED32), body])
}

function tag(field: number, wireType: number): Part {
  return plainVarint(BigInt((field << 3) | wireType))
}

function plainVarint(value: bigint): Part {
  const out: number[] = []
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...out, Number(rest)])
    out.push(Number(rest & 127n) | 128)
  }
}
