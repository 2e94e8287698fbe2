/** OTLP requests of uploaded records, put together from the JSON text of each (Spec: OTLP log payload). */
import type { UploadedRecord } from './upload-record.ts'

export interface UploadOrigin {
  readonly batchId: string
  /** Undefined: that of the collector. */
  readonly tenant: string | undefined
}

export interface RequestLimits {
  /** JSON of one record. */
  readonly recordBytes: number
  /** JSON of the request. */
  readonly requestBytes: number
}

/** All but `added` leave the record out; `full`: a request that is empty yet may take it. */
export type Addition = 'added' | 'full' | 'too large a record' | 'too large a request'

export interface RequestBuilder {
  readonly records: number
  add(record: UploadedRecord, line: number, limits: RequestLimits): Addition
  /** The line of the first record. */
  readonly firstLine: number
  toJson(): string
}

const REQUEST_START = '{"resourceLogs":['
const REQUEST_END = ']}'
const RECORDS_START = ',"scopeLogs":[{"logRecords":['
const RECORDS_END = ']}]}'
const REQUEST_BYTES = REQUEST_START.length + REQUEST_END.length
/** JSON around a resource and its records. */
const GROUP_BYTES = '{"resource":'.length + RECORDS_START.length + RECORDS_END.length

/** Records of one service and host share a resource; within it they keep the order of the file. */
export function createRequestBuilder({ batchId, tenant }: UploadOrigin): RequestBuilder {
  const groups = new Map<string, string[]>()
  let records = 0
  let bytes = REQUEST_BYTES
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
    get firstLine() {
      return firstLine
    },
    add(record, line, { recordBytes, requestBytes }) {
      const json = JSON.stringify(record.record)
      const size = Buffer.byteLength(json)
      if (size > recordBytes) return 'too large a record'
      const resource = resourceOf(record)
      const group = groups.get(resource)
      const comma = group === undefined && groups.size === 0 ? 0 : 1
      const added = size + comma + (group === undefined ? GROUP_BYTES + Buffer.byteLength(resource) : 0)
      if (bytes + added > requestBytes) return records === 0 ? 'too large a request' : 'full'
      if (group === undefined) groups.set(resource, [json])
      else group.push(json)
      if (records === 0) firstLine = line
      records++
      bytes += added
      return 'added'
    },
    toJson() {
      const resourceLogs = Array.from(
        groups,
        ([resource, group]) => `{"resource":${resource}${RECORDS_START}${group.join(',')}${RECORDS_END}`,
      )
      return `${REQUEST_START}${resourceLogs.join(',')}${REQUEST_END}`
    },
  }
}
