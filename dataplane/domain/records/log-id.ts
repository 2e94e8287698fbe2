import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'

/** The namespace of log ids (Decisions 4). */
export const LOG_NAMESPACE = createUuid5(URL_NAMESPACE)('https://logpipeline.dev/log')

const uuid = createUuid5(LOG_NAMESPACE)

/** `log_id`: a deterministic UUID (version 5) derived from trace id, span id and timestamp (Spec: Pipeline rules 2). */
export function buildLogId(traceId: string, spanId: string, timeUnixNano: string): string {
  return uuid(`${traceId}:${spanId}:${timeUnixNano}`)
}

const HEX = /^[0-9a-fA-F]+$/
const ALL_ZERO = /^0+$/

/** A trace or span id in lower case; `''` when its length is not `digits`, it is not hexadecimal, or all zero (Decisions 3). */
export function normaliseId(id: string | undefined, digits: 32 | 16): string {
  if (id === undefined || id.length !== digits || !HEX.test(id) || ALL_ZERO.test(id)) return ''
  return id.toLowerCase()
}
