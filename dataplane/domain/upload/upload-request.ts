/** OTLP requests of uploaded records, put together from the JSON text of each (Spec: OTLP log payload). */
import type { UploadedRecord } from './upload-record.ts'

export interface UploadOrigin {
  readonly batchId: string
  /** Undefined: that of the collector. */
  readonly tenant: string | undefined
}

export interface RequestBuilder {
  readonly records: number
  /** Characters of JSON so far, without what stands around records. */
  readonly length: number
  /** False for a record whose JSON has more than `maxBytes`: it is left out. */
  add(record: UploadedRecord, line: number, maxBytes: number): boolean
  /** The line of the first record. */
  readonly firstLine: number
  toJson(): string
}

/** Records of one service and host share a resource; within it they keep the order of the file. */
export function createRequestBuilder({ batchId, tenant }: UploadOrigin): RequestBuilder {
  const groups = new Map<string, string[]>()
  let records = 0
  let length = 0
  let firstLine = 0
  const resourceOf = ({ service, host }: UploadedRecord): string => {
    const attributes = { 'service.name': service, 'host.name': host, batch_id: batchId, tenant_id: tenant }
    const named = Object.entries(attributes).filter(([, value]) => value !== undefined)
    return JSON.stringify({ attributes: named.map(([key, stringValue]) => ({ key, value: { stringValue } })) })
  }
  return {
    get records() {
      return records
    },
    get length() {
      return length
    },
    get firstLine() {
      return firstLine
    },
    add(record, line, maxBytes) {
      const resource = resourceOf(record)
      const json = JSON.stringify(record.record)
      if (Buffer.byteLength(json) > maxBytes) return false
      const group = groups.get(resource)
      if (group === undefined) {
        groups.set(resource, [json])
        length += resource.length
      } else group.push(json)
      if (records === 0) firstLine = line
      records++
      length += json.length
      return true
    },
    toJson() {
      const resourceLogs = Array.from(
        groups,
        ([resource, group]) => `{"resource":${resource},"scopeLogs":[{"logRecords":[${group.join(',')}]}]}`,
      )
      return `{"resourceLogs":[${resourceLogs.join(',')}]}`
    },
  }
}
