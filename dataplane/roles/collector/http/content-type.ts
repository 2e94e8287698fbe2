import type { Transport } from '../intake/collector-counters.ts'

export const JSON_TYPE = 'application/json'
export const PROTOBUF_TYPE = 'application/x-protobuf'
export type AnswerType = typeof JSON_TYPE | typeof PROTOBUF_TYPE

export const TRANSPORTS: Readonly<Record<AnswerType, Transport>> = { [JSON_TYPE]: 'http_json', [PROTOBUF_TYPE]: 'http_protobuf' }

/** Parameters such as charset are left aside; undefined for a type that OTLP does not have. */
export function parseContentType(header: string | undefined): AnswerType | undefined {
  if (header === JSON_TYPE || header === PROTOBUF_TYPE) return header
  const [name = ''] = (header ?? '').split(';', 1)
  const type = name.trim().toLowerCase()
  return type === JSON_TYPE || type === PROTOBUF_TYPE ? type : undefined
}
