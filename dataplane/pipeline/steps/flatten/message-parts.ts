/** Goes through the resources, scopes and records of a message. */
import { findHolderProblem, shown } from '../../../domain/records/otlp-problem.ts'
import { NOWHERE, OPEN_LIST, OPEN_OBJECT, skipSpace } from '../../../json/bytes.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import { closeBrackets, parseRange, type Range, roughElements, roughEnd, roughMembers } from '../../../json/rough.ts'
import type { InstrumentationScope, Resource } from '../../../otlp/payload.ts'

/** Where the resource and the scope of a record stand in its message; undefined where it has none. */
export interface Surroundings {
  readonly resource: Range | undefined
  readonly scope: Range | undefined
}

/** A resource and a scope, read. One object for all their records. */
export interface ReadSurroundings extends Surroundings {
  readonly resourceValue: Resource | undefined
  readonly scopeValue: InstrumentationScope | undefined
}

/** The kind of a range: the whole message, an element of `resourceLogs`, of `scopeLogs`, or of `logRecords`. */
export type PartLevel = 'message' | 'resourceLogs' | 'scopeLogs' | 'logRecords'

/** A part of a message, and what surrounds it: as much as is needed to make a message of it. */
export interface PartPlace extends Surroundings {
  readonly level: PartLevel
  readonly range: Range
}

export type MessagePart =
  /** `value` is JSON of any type. */
  | { readonly kind: 'record'; readonly value: unknown; readonly range: Range; readonly around: ReadSurroundings }
  /** `records`: how many log records are in it, as far as they can be told. */
  | { readonly kind: 'unreadable'; readonly place: PartPlace; readonly reason: string; readonly records: number }

/**
 * Unwraps the three OTLP nesting levels of a message (Spec: Pipeline rules 2), in its order. An element that cannot be read is told, and those
 * before and behind it are read. Of a message that is no JSON as a whole the records are read that stand in it in full; then the whole of it is told.
 */
export function* readParts(message: Buffer): Generator<MessagePart, void, undefined> {
  const start = skipSpace(message, 0)
  const end = roughEnd(message, start)
  const isWhole = end !== NOWHERE && skipSpace(message, end) === message.length
  const b = isWhole ? message : closeBrackets(message)
  const range = { start, end: isWhole ? end : roughEnd(b, start) }
  const members = range.end === NOWHERE ? undefined : roughMembers(b, range)
  if (members === undefined) return yield unreadableMessage(message, whyUnreadable(message))
  const list = members.get('resourceLogs')
  const [member] = members.keys()
  if (isWhole && list === undefined && member !== undefined)
    return yield unreadableMessage(message, `resourceLogs: expected this list, saw ${shown(member)}`)
  if (list !== undefined && b[list.start] !== OPEN_LIST) return yield unreadableMessage(message, `resourceLogs: ${notAList(b, list)}`)
  const brokenList = () => unreadableMessage(message, whyUnreadable(message))
  const parts = readList(b, list, (element, index) => readResource(b, element, index), brokenList)
  if (isWhole) return yield* parts
  for (const part of parts) if (part.kind === 'record' && (range.end <= message.length || isBefore(message.length, part))) yield part
  yield unreadableMessage(message, whyUnreadable(message))
}

/** Whether a record and the resource it belongs to were there before the message broke off. */
function isBefore(length: number, { range, around: { resource } }: MessagePart & { readonly kind: 'record' }): boolean {
  return range.end <= length && resource !== undefined && resource.end <= length
}

function notAList(b: Buffer, range: Range): string {
  const parsed = parseRange(b, range)
  return 'problem' in parsed ? parsed.problem : `expected an array, saw ${shown(parsed.value)}`
}

function unreadableMessage(message: Buffer, reason: string): MessagePart {
  return {
    kind: 'unreadable',
    place: { level: 'message', range: { start: 0, end: message.length }, ...NOTHING_AROUND },
    reason,
    records: 0,
  }
}

const NOTHING_AROUND: Surroundings = { resource: undefined, scope: undefined }

function whyUnreadable(message: Buffer): string {
  const parsed = parseRange(message, { start: 0, end: message.length })
  return `message: ${'problem' in parsed ? parsed.problem : `expected a JSON object, saw ${shown(parsed.value)}`}`
}

/** The parts of each element, and `broken` where from some element on it is no list. */
function* readList(
  b: Buffer,
  list: Range | undefined,
  readElement: (element: Range, index: number) => Iterable<MessagePart>,
  broken: () => MessagePart,
): Generator<MessagePart, void, undefined> {
  if (list === undefined) return
  let index = 0
  for (const element of roughElements(b, list)) {
    if (element === undefined) yield broken()
    else yield* readElement(element, index++)
  }
}

function* readResource(b: Buffer, range: Range, index: number): Generator<MessagePart, void, undefined> {
  const place: PartPlace = { level: 'resourceLogs', range, ...NOTHING_AROUND }
  const holder = readHolder(b, range, 'resource', 'scopeLogs')
  if ('problem' in holder) return yield unreadable(b, place, joinPath(`resourceLogs[${index}]`, holder.problem))
  const around = { resource: holder.inner, resourceValue: holder.value as Resource | undefined }
  const broken = () => unreadable(b, place, `resourceLogs[${index}].scopeLogs: ${BREAKS_OFF}`)
  const readElement = (element: Range, at: number) => readScope(b, element, `resourceLogs[${index}].scopeLogs[${at}]`, around)
  yield* readList(b, holder.list, readElement, broken)
}

function* readScope(
  b: Buffer,
  range: Range,
  path: string,
  { resource, resourceValue }: Pick<ReadSurroundings, 'resource' | 'resourceValue'>,
): Generator<MessagePart, void, undefined> {
  const place: PartPlace = { level: 'scopeLogs', range, resource, scope: undefined }
  const holder = readHolder(b, range, 'scope', 'logRecords')
  if ('problem' in holder) return yield unreadable(b, place, joinPath(path, holder.problem))
  const around: ReadSurroundings = {
    resource,
    resourceValue,
    scope: holder.inner,
    scopeValue: holder.value as InstrumentationScope | undefined,
  }
  const broken = () => unreadable(b, place, `${path}.logRecords: ${BREAKS_OFF}`)
  yield* readList(b, holder.list, element => readRecord(b, element, around), broken)
}

function* readRecord(b: Buffer, range: Range, around: ReadSurroundings): Generator<MessagePart, void, undefined> {
  const parsed = parseRange(b, range)
  if ('value' in parsed) yield { kind: 'record', value: parsed.value, range, around }
  else yield { kind: 'unreadable', place: { level: 'logRecords', range, ...around }, reason: `log record: ${parsed.problem}`, records: 1 }
}

/** A problem of the holder itself begins with a colon. */
const joinPath = (path: string, problem: string) => (problem.startsWith(':') ? `${path}${problem}` : `${path}.${problem}`)

const BREAKS_OFF = 'not JSON (the list breaks off)'

type Holder =
  | { readonly problem: string }
  | { readonly inner: Range | undefined; readonly value: unknown; readonly list: Range | undefined }

/** A resource or scope and the list behind it. */
function readHolder(b: Buffer, range: Range, innerName: 'resource' | 'scope', listName: 'scopeLogs' | 'logRecords'): Holder {
  const members = b[range.start] === OPEN_OBJECT ? roughMembers(b, range) : undefined
  if (members === undefined) {
    const parsed = parseRange(b, range)
    return { problem: 'problem' in parsed ? parsed.problem : (findHolderProblem(parsed.value, innerName, listName) ?? 'not JSON') }
  }
  const inner = members.get(innerName)
  const list = members.get(listName)
  const parsedInner = inner === undefined ? { value: undefined } : parseRange(b, inner)
  const parsedList = list === undefined || b[list.start] === OPEN_LIST ? { value: undefined } : parseRange(b, list)
  if ('problem' in parsedInner) return { problem: `${innerName}: ${parsedInner.problem}` }
  if ('problem' in parsedList) return { problem: `${listName}: ${parsedList.problem}` }
  const problem = findHolderProblem({ [innerName]: parsedInner.value, [listName]: parsedList.value }, innerName, listName)
  return problem === undefined ? { inner, value: parsedInner.value, list } : { problem }
}

function unreadable(b: Buffer, place: PartPlace, reason: string): MessagePart {
  return { kind: 'unreadable', place, reason, records: countRecords(b, place) }
}

function countRecords(b: Buffer, { level, range }: PartPlace): number {
  const parsed = parseRange(b, range)
  const value = 'value' in parsed ? parsed.value : undefined
  if (level === 'scopeLogs') return recordsIn(value)
  const scopeLogs = isJsonObject(value) ? value['scopeLogs'] : undefined
  return Array.isArray(scopeLogs) ? scopeLogs.reduce<number>((sum, scopeLog) => sum + recordsIn(scopeLog), 0) : 0
}

function recordsIn(scopeLog: unknown): number {
  const records = isJsonObject(scopeLog) ? scopeLog['logRecords'] : undefined
  return Array.isArray(records) ? records.length : 0
}
