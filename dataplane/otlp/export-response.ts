/** The answers to an export: `ExportLogsServiceResponse` and `google.rpc.Status`, in JSON and protobuf. */
import { Buffer } from 'node:buffer'

export interface PartialSuccess {
  readonly rejectedRecords: number
  /** Empty: nothing to say. */
  readonly message: string
}

export interface RpcStatus {
  /** gRPC status code. */
  readonly code: number
  readonly message: string
  /** Adds a `google.rpc.RetryInfo`. */
  readonly retryAfterSeconds?: number | undefined
}

const RETRY_INFO_TYPE = Buffer.from('type.googleapis.com/google.rpc.RetryInfo')

export function encodeResponseJson({ rejectedRecords, message }: PartialSuccess): string {
  const partialSuccess = {
    ...(rejectedRecords > 0 && { rejectedLogRecords: String(rejectedRecords) }),
    ...(message !== '' && { errorMessage: message }),
  }
  return JSON.stringify({ partialSuccess })
}

export function encodeResponseProtobuf({ rejectedRecords, message }: PartialSuccess): Buffer {
  const partialSuccess = Buffer.concat([varintField(1, rejectedRecords), bytesField(2, Buffer.from(message))])
  return bytesField(1, partialSuccess)
}

export function encodeStatusProtobuf({ code, message, retryAfterSeconds }: RpcStatus): Buffer {
  const details = retryAfterSeconds === undefined ? Buffer.alloc(0) : bytesField(3, retryInfo(retryAfterSeconds))
  return Buffer.concat([varintField(1, code), bytesField(2, Buffer.from(message)), details])
}

/** A `google.protobuf.Any` that holds a `RetryInfo`. */
function retryInfo(seconds: number): Buffer {
  const duration = varintField(1, seconds)
  return Buffer.concat([bytesField(1, RETRY_INFO_TYPE), bytesField(2, bytesField(1, duration))])
}

/** Left out when it has its default, as proto3 does. */
function varintField(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8), varint(value)])
}

function bytesField(field: number, value: Uint8Array): Buffer {
  return value.length === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8 + 2), varint(value.length), value])
}

/** A non-negative integer below 2^53. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
