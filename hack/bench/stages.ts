/** Single steps of the pipeline, fed from memory with the generator's mix in messages of 100 records. */

import { MAX_BUS_MESSAGE_BYTES } from '../../dataplane/contract/topics.ts'
import { scoreRecord } from '../../dataplane/domain/scoring.ts'
import { DEFAULT_ZSCORE_CONFIG, ServiceWindows } from '../../dataplane/domain/zscore.ts'
import { acceptJson } from '../../dataplane/otlp/accept-json.ts'
import { cutFragments, joinFragments } from '../../dataplane/otlp/fragments.ts'
import type { RequestLayout } from '../../dataplane/otlp/layout.ts'
import { transcodeProtobuf } from '../../dataplane/otlp/transcode-protobuf.ts'
import { decodeFlatRecord } from '../../dataplane/pipeline/flat-record-layout.ts'
import type { StepInput } from '../../dataplane/pipeline/outcome.ts'
import { createDetector } from '../../dataplane/pipeline/steps/detect.ts'
import { createEtl } from '../../dataplane/pipeline/steps/etl.ts'
import { createDocumentBuilder } from '../../dataplane/pipeline/steps/index-documents.ts'
import type { BulkOperation } from '../../dataplane/ports/search-store.ts'
import { prepareEngine, prepareRest } from './index-stages.ts'
import { buildRequestBodies, type Encoding, type RequestBody } from './request-body.ts'

/** One pass over the prepared input; gives the number of records it went through. */
export type Pass = () => number | Promise<number>

export interface Stage {
  readonly pass: Pass
  /** Process whose CPU time counts, when it is not this one. */
  readonly serverPid?: number
  readonly stop?: () => Promise<void>
}

const RECORDS_PER_MESSAGE = 100
const DISTINCT_RECORDS = 20_000

const PURE_STAGES: Readonly<Record<string, () => Pass>> = {
  'JSON accept': () => {
    const bodies = freshBodies('json')
    return () => sum(bodies, body => toMessage(acceptJson(body.bytes, ACCEPT_OPTIONS)).records)
  },
  'protobuf transcode': () => {
    const bodies = freshBodies('protobuf')
    return () => sum(bodies, body => toMessage(transcodeProtobuf(body.bytes, ACCEPT_OPTIONS)).records)
  },
  etl: () => {
    const messages = rawMessages()
    const etl = newEtl()
    return () => sum(messages, message => etl.process(message, Date.now()).received)
  },
  score: () => {
    const records = enrichedRecords().map(({ value }) => decodeFlatRecord(value)!.canonical)
    return () => {
      let emitted = 0
      for (const record of records) if ((scoreRecord(record) ?? 0) >= 0.5) emitted += 1
      return emitted < 0 ? 0 : records.length
    }
  },
  'z-score': () => {
    const values = enrichedRecords().map(({ key, value }) => ({ key, score: scoreRecord(decodeFlatRecord(value)!.canonical) ?? 0 }))
    const windows = new ServiceWindows(DEFAULT_ZSCORE_CONFIG, 20_000)
    return () => {
      for (const { key, score } of values) windows.observe(key, score)
      return values.length
    }
  },
  'decode, score and z-score': () => {
    const inputs = enrichedRecords()
    return () => {
      const detector = createDetector(DEFAULT_ZSCORE_CONFIG)
      for (const input of inputs) detector.process(input)
      return inputs.length
    }
  },
  'build documents': () => {
    const inputs = enrichedRecords()
    const builder = createDocumentBuilder()
    return () => {
      for (const input of inputs) builder.log(input)
      return inputs.length
    }
  },
}

export const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
  ...Object.fromEntries(Object.entries(PURE_STAGES).map(([name, prepare]) => [name, async () => ({ pass: prepare() })])),
  'index (engine)': () => prepareEngine(logOperations()),
  'index over REST (server)': () => prepareRest(logOperations()),
}

/** Bulk `create` of the documents of all distinct records. */
function logOperations(): BulkOperation[] {
  const builder = createDocumentBuilder()
  return enrichedRecords().map(input => {
    const outcome = builder.log(input)
    if (outcome.kind !== 'emit') throw new Error(`a generated record became no document: ${outcome.reason}`)
    return outcome.value.operation
  })
}

function freshBodies(encoding: Encoding): RequestBody[] {
  const bodies = buildRequestBodies(encoding, RECORDS_PER_MESSAGE, DISTINCT_RECORDS)
  const now = BigInt(Date.now()) * 1_000_000n
  for (const [i, body] of bodies.entries()) body.renew(now + BigInt(i * RECORDS_PER_MESSAGE))
  return bodies
}

const ACCEPT_OPTIONS = { observedTimeUnixNano: '1700000000000000000' }

/** Cuts an accepted request into bus messages, as the collector does. */
function toMessage(request: RequestLayout): { readonly message: Uint8Array; readonly records: number } {
  return { message: joinFragments(cutFragments(request, MAX_BUS_MESSAGE_BYTES).fragments), records: request.recordCount }
}

function rawMessages(): Uint8Array[] {
  return freshBodies('json').map(body => toMessage(acceptJson(body.bytes, ACCEPT_OPTIONS)).message)
}

function newEtl() {
  return createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
}

function enrichedRecords(): StepInput[] {
  const etl = newEtl()
  return rawMessages().flatMap(message =>
    etl.process(message, Date.now()).records.map(({ key, value, headers }) => ({ key, value, headers: headers ?? {} })),
  )
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  let total = 0
  for (const item of items) total += count(item)
  return total
}
