/** The generator's mix as it stands in the topics, in messages of 100 records. */
import { MAX_BUS_MESSAGE_BYTES } from '../../dataplane/contract/topics.ts'
import { findEqualKeys } from '../../dataplane/otlp/equal-keys.ts'
import { cutFragments, joinFragments } from '../../dataplane/otlp/fragments.ts'
import { acceptJson } from '../../dataplane/otlp/json/accept-json.ts'
import type { RequestLayout } from '../../dataplane/otlp/layout.ts'
import { createEtl } from '../../dataplane/pipeline/steps/flatten/etl.ts'
import { createDocumentBuilder } from '../../dataplane/pipeline/steps/index-documents.ts'
import type { BusRecord } from '../../dataplane/ports/bus.ts'
import type { BulkOperation } from '../../dataplane/ports/search-store.ts'
import { buildRequestBodies, type Encoding, type RequestBody } from './request-body.ts'

const RECORDS_PER_MESSAGE = 100
export const DISTINCT_RECORDS = 20_000
export const ACCEPT_OPTIONS = { observedTimeUnixNano: '1700000000000000000' }

/** Request bodies whose records have times from `nowMs` on. */
export function freshBodies(encoding: Encoding, nowMs = Date.now()): RequestBody[] {
  const bodies = buildRequestBodies(encoding, RECORDS_PER_MESSAGE, DISTINCT_RECORDS)
  const now = BigInt(nowMs) * 1_000_000n
  for (const [i, body] of bodies.entries()) body.renew(now + BigInt(i * RECORDS_PER_MESSAGE))
  return bodies
}

/** Cuts an accepted request into bus messages, as the collector does; it looks for records of equal time first, of which the generator makes none. */
export function toMessage(request: RequestLayout): { readonly message: Uint8Array; readonly records: number } {
  findEqualKeys(request.timeKeys)
  return { message: joinFragments(cutFragments(request, MAX_BUS_MESSAGE_BYTES).fragments), records: request.recordCount }
}

/** 20,000 records as messages of `raw-logs`. */
export function rawMessages(nowMs?: number): Uint8Array[] {
  return freshBodies('json', nowMs).map(body => toMessage(acceptJson(body.bytes, ACCEPT_OPTIONS)).message)
}

export function newEtl() {
  return createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
}

/** 20,000 records of `enriched-logs`. */
export function enrichedRecords(nowMs?: number): (BusRecord & { readonly headers: Readonly<Record<string, string>> })[] {
  const etl = newEtl()
  return rawMessages(nowMs).flatMap(message =>
    etl.process(message, Date.now()).records.map(({ key, value, headers }) => ({ key, value, headers: headers ?? {} })),
  )
}

/** Bulk `create` of the documents of enriched records. */
export function logOperations(records: ReturnType<typeof enrichedRecords>): BulkOperation[] {
  const builder = createDocumentBuilder()
  return records.map(record => {
    const outcome = builder.log(record)
    if (outcome.kind !== 'emit') throw new Error(`a generated record became no document: ${outcome.reason}`)
    return outcome.value.operation
  })
}
