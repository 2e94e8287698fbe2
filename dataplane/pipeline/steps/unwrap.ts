import { findAttributesProblem, isFields, shown } from '../../domain/otlp-problem.ts'
import type { InstrumentationScope, Resource, ScopeLogs } from '../../otlp/payload.ts'
import { asBuffer } from '../flat-record-layout.ts'

/** Takes what a message of `raw-logs` holds, level by level. */
export interface UnwrapVisitor {
  resource(resource: Resource | undefined): void
  scope(scope: InstrumentationScope | undefined): void
  /** Not looked at yet. */
  record(record: unknown): void
  /** Something that cannot be read, as a message of its own: `original` is OTLP JSON with what surrounds it. */
  problem(original: Uint8Array, reason: string, records: number): void
}

type Fields = Readonly<Record<string, unknown>>

/** Unwraps the three OTLP nesting levels (Spec: Pipeline rules 2); what is not OTLP goes to `visitor.problem`, the rest goes on. */
export function unwrapMessage(value: Uint8Array, visitor: UnwrapVisitor): void {
  const payload = parseMessage(value)
  if (typeof payload === 'string') return void visitor.problem(value, payload, 0)
  const { resourceLogs } = payload
  if (resourceLogs === undefined) return
  if (!Array.isArray(resourceLogs)) return void visitor.problem(value, `resourceLogs: expected an array, saw ${shown(resourceLogs)}`, 0)
  for (let i = 0; i < resourceLogs.length; i++) unwrapResource(resourceLogs[i], `resourceLogs[${i}]`, visitor)
}

/** The JSON object, or what is wrong with it. */
function parseMessage(value: Uint8Array): Fields | string {
  try {
    const payload: unknown = JSON.parse(asBuffer(value).toString())
    return isFields(payload) ? payload : `message: expected a JSON object, saw ${shown(payload)}`
  } catch (error) {
    return `message: not JSON (${error instanceof Error ? error.message : error})`
  }
}

function unwrapResource(resourceLogs: unknown, path: string, visitor: UnwrapVisitor): void {
  const problem = findHolderProblem(resourceLogs, 'resource', 'scopeLogs')
  if (problem !== undefined) return void visitor.problem(toMessage(resourceLogs), `${path}.${problem}`, countRecords(resourceLogs))
  const { resource, scopeLogs } = resourceLogs as { resource?: Resource; scopeLogs?: readonly unknown[] }
  visitor.resource(resource)
  for (let i = 0; i < (scopeLogs?.length ?? 0); i++) {
    const scopeLog = scopeLogs![i]
    const scopeProblem = findHolderProblem(scopeLog, 'scope', 'logRecords')
    if (scopeProblem === undefined) unwrapScope(scopeLog as ScopeLogs, visitor)
    else
      visitor.problem(
        toMessage({ ...(resourceLogs as Fields), scopeLogs: [scopeLog] }),
        `${path}.scopeLogs[${i}].${scopeProblem}`,
        recordsIn(scopeLog),
      )
  }
}

function unwrapScope({ scope, logRecords = [] }: ScopeLogs, visitor: UnwrapVisitor): void {
  visitor.scope(scope)
  for (let i = 0; i < logRecords.length; i++) visitor.record(logRecords[i])
}

/** What is wrong with an object that holds something with attributes, and a list. */
export function findHolderProblem(holder: unknown, inner: 'resource' | 'scope', list: 'scopeLogs' | 'logRecords'): string | undefined {
  if (!isFields(holder)) return `: expected an object, saw ${shown(holder)}`
  const innerValue = holder[inner]
  if (innerValue !== undefined) {
    if (!isFields(innerValue)) return `${inner}: expected an object, saw ${shown(innerValue)}`
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

/** A message of `raw-logs` with this one resource. */
export function toMessage(resourceLogs: unknown): Uint8Array {
  return Buffer.from(JSON.stringify({ resourceLogs: [resourceLogs] }))
}

function countRecords(resourceLogs: unknown): number {
  const scopeLogs = isFields(resourceLogs) ? resourceLogs['scopeLogs'] : undefined
  return Array.isArray(scopeLogs) ? scopeLogs.reduce<number>((sum, scopeLog) => sum + recordsIn(scopeLog), 0) : 0
}

function recordsIn(scopeLog: unknown): number {
  const records = isFields(scopeLog) ? scopeLog['logRecords'] : undefined
  return Array.isArray(records) ? records.length : 0
}
