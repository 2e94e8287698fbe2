/** Checks that a log record has the shape that OTLP gives it; what came through the collector has. */
import { MAX_VALUE_DEPTH } from '../../json/depth.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import { shortened } from '../../text/shortened.ts'

/** Kinds of an AnyValue and what each must be. */
const VALUE_CHECKS: Readonly<Record<string, (value: unknown, depth: number) => string | undefined>> = {
  stringValue: value => expectType(value, 'string'),
  boolValue: value => expectType(value, 'boolean'),
  intValue: value => (isInteger(value) ? undefined : `expected a 64-bit integer, saw ${shown(value)}`),
  doubleValue: value => (isDouble(value) ? undefined : `expected a number, saw ${shown(value)}`),
  bytesValue: value => expectType(value, 'string'),
  arrayValue: (value, depth) => findListProblem(value, item => findValueProblem(item, depth + 1)),
  kvlistValue: (value, depth) => findListProblem(value, item => findKeyValueProblem(item, depth + 1)),
}

/** The problem of an attribute list, naming the entry; undefined without one. */
export function findAttributesProblem(attributes: unknown): string | undefined {
  if (attributes === undefined) return undefined
  if (!Array.isArray(attributes)) return `attributes: expected an array, saw ${shown(attributes)}`
  for (let i = 0; i < attributes.length; i++) {
    const problem = findKeyValueProblem(attributes[i], 1)
    if (problem !== undefined) return `attributes[${i}]: ${problem}`
  }
  return undefined
}

/** The problem of a log record, naming the field; undefined without one. */
export function findRecordProblem(record: unknown): string | undefined {
  if (!isJsonObject(record)) return `log record: expected an object, saw ${shown(record)}`
  const { body, severityText, severityNumber } = record
  if (body !== undefined) {
    const problem = findValueProblem(body, 1)
    if (problem !== undefined) return `body: ${problem}`
  }
  if (severityText !== undefined && typeof severityText !== 'string') return `severityText: expected a string, saw ${shown(severityText)}`
  if (severityNumber !== undefined && typeof severityNumber !== 'number')
    return `severityNumber: expected an integer, saw ${shown(severityNumber)}`
  for (const name of ['traceId', 'spanId', 'eventName'] as const) {
    const value = record[name]
    if (value !== undefined && typeof value !== 'string') return `${name}: expected a string, saw ${shown(value)}`
  }
  return findAttributesProblem(record['attributes'])
}

/** The problem of an object that holds something with attributes, and a list; undefined without one. */
export function findHolderProblem(holder: unknown, inner: 'resource' | 'scope', list: 'scopeLogs' | 'logRecords'): string | undefined {
  if (!isJsonObject(holder)) return `: expected an object, saw ${shown(holder)}`
  const innerValue = holder[inner]
  if (innerValue !== undefined) {
    if (!isJsonObject(innerValue)) return `${inner}: expected an object, saw ${shown(innerValue)}`
    const problem = findAttributesProblem(innerValue['attributes'])
    if (problem !== undefined) return `${inner}.${problem}`
    for (const name of ['name', 'version']) {
      const text = innerValue[name]
      if (inner === 'scope' && text !== undefined && typeof text !== 'string') return `scope.${name}: expected a string, saw ${shown(text)}`
    }
  }
  const items = holder[list]
  return items === undefined || Array.isArray(items) ? undefined : `${list}: expected an array, saw ${shown(items)}`
}

function findKeyValueProblem(entry: unknown, depth: number): string | undefined {
  if (!isJsonObject(entry)) return `expected an object, saw ${shown(entry)}`
  const { key, value } = entry
  if (key !== undefined && typeof key !== 'string') return `key: expected a string, saw ${shown(key)}`
  return value === undefined ? undefined : findValueProblem(value, depth)
}

function findValueProblem(value: unknown, depth: number): string | undefined {
  if (!isJsonObject(value)) return `expected an AnyValue object, saw ${shown(value)}`
  if (typeof value['stringValue'] === 'string') return undefined
  if (depth > MAX_VALUE_DEPTH) return `nested deeper than ${MAX_VALUE_DEPTH} levels`
  for (const kind in value) {
    if (value[kind] === undefined || !Object.hasOwn(VALUE_CHECKS, kind)) continue
    const problem = VALUE_CHECKS[kind]!(value[kind], depth)
    if (problem !== undefined) return `${kind}: ${problem}`
  }
  return undefined
}

function findListProblem(list: unknown, findProblem: (item: unknown) => string | undefined): string | undefined {
  if (!isJsonObject(list)) return `expected an object, saw ${shown(list)}`
  const { values } = list
  if (values === undefined) return undefined
  if (!Array.isArray(values)) return `values: expected an array, saw ${shown(values)}`
  for (const item of values) {
    const problem = findProblem(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function expectType(value: unknown, type: 'string' | 'boolean'): string | undefined {
  return typeof value === type ? undefined : `expected a ${type}, saw ${shown(value)}`
}

function isInteger(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isInteger(value) && Math.abs(value) <= 2 ** 53
    : typeof value === 'string' && /^-?\d{1,20}$/.test(value)
}

function isDouble(value: unknown): boolean {
  if (typeof value === 'number') return true
  return typeof value === 'string' && (value === 'NaN' || (value.trim() !== '' && !Number.isNaN(Number(value))))
}

const MAX_SHOWN = 60

/** A value as a message shows it, short. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return shortened(JSON.stringify(value) ?? 'nothing', MAX_SHOWN)
}
