/** Says in the plainest way which JSON values are OTLP payloads; the scanner must agree. */

import { isJsonObject } from '../../json/is-json-object.ts'

type Check = (value: unknown) => boolean
type Fields = Readonly<Record<string, Check>>

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
const string: Check = value => typeof value === 'string'
const bool: Check = value => typeof value === 'boolean'
const list =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check)

function integer(min: bigint, max: bigint, quotable = true): Check {
  return value => {
    if (typeof value === 'string' ? !quotable || !/^-?(0|[1-9]\d*)(\.0+)?$/.test(value) : !Number.isInteger(value)) return false
    const exact = typeof value === 'string' ? BigInt(value.replace(/\.0+$/, '')) : BigInt(value as number)
    return exact >= min && exact <= max
  }
}
/** Unsigned 64-bit; a negative one is taken for an unknown time. */
const time = integer(-(2n ** 63n), 2n ** 64n - 1n)
const uint32 = integer(0n, 2n ** 32n - 1n)
const double: Check = value =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && (/^(NaN|-?Infinity)$/.test(value) || /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value))
const base64: Check = value => typeof value === 'string' && /^[\w+/-]*={0,2}$/.test(value) && value.replace(/=+$/, '').length % 4 !== 1

/** Every spelling of a known field holds null or what its check takes. */
function message(fields: () => Fields, isExclusive = false): Check {
  return value => {
    if (!isJsonObject(value)) return false
    let set = 0
    for (const [name, check] of Object.entries(fields()))
      for (const spelling of new Set([name, snakeCase(name)])) {
        const member = Object.hasOwn(value, spelling) ? value[spelling] : null
        if (member === null) continue
        if (!check(member)) return false
        set++
      }
    return !isExclusive || set <= 1
  }
}

const anyValue: Check = message(
  () => ({
    stringValue: string,
    boolValue: bool,
    intValue: integer(-(2n ** 63n), 2n ** 63n - 1n),
    doubleValue: double,
    arrayValue: message(() => ({ values: list(anyValue) })),
    kvlistValue: message(() => ({ values: attributes })),
    bytesValue: base64,
  }),
  true,
)
const keyValue = message(() => ({ key: string, value: anyValue }))
const attributes = list(keyValue)
const resource = message(() => ({ attributes, droppedAttributesCount: uint32 }))
const scope = message(() => ({ name: string, version: string, attributes, droppedAttributesCount: uint32 }))
const logRecord = message(() => ({
  timeUnixNano: time,
  observedTimeUnixNano: time,
  severityNumber: integer(-(2n ** 31n), 2n ** 31n - 1n, false),
  severityText: string,
  body: anyValue,
  attributes,
  droppedAttributesCount: uint32,
  flags: uint32,
  traceId: string,
  spanId: string,
  eventName: string,
}))
const scopeLogs = message(() => ({ scope, logRecords: list(logRecord), schemaUrl: string }))
const resourceLogs = message(() => ({ resource, scopeLogs: list(scopeLogs), schemaUrl: string }))

/** `value` is what `JSON.parse` made of the request. */
export const isLogsPayload: Check = message(() => ({ resourceLogs: list(resourceLogs) }))
