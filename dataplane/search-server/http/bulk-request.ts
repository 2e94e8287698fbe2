/** Reads the NDJSON of `_bulk`: action lines are parsed, documents are left as bytes. */
import { ApiError, illegalArgument, parsingError, unsupported } from '../api-error.ts'
import { isObject, type JsonObject } from '../query/json-reader.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { checkId, newId, parseCondition, parseUpdate } from './write-request.ts'

export type BulkAction = WriteOp['action']

export interface BulkItem {
  readonly action: BulkAction
  readonly index: string
  /** Undefined for an item that fails alone. */
  readonly op: WriteOp | undefined
  readonly error: ApiError | undefined
  readonly id: string | null
  readonly requireAlias: boolean
}

const NEWLINE = 0x0a
const ACTIONS: readonly string[] = ['index', 'create', 'update', 'delete']

/** Throws 400 for a body with an item that is malformed: nothing of it is written. */
export function parseBulk(body: Buffer, defaultIndex: string | undefined, requireAlias: boolean): readonly BulkItem[] {
  if (body.length === 0) throw new ApiError(400, 'parse_exception', 'request body is required')
  if (body[body.length - 1] !== NEWLINE) throw illegalArgument('The bulk request must be terminated by a newline [\\n]')
  const items: BulkItem[] = []
  let line = 0
  let at = 0
  while (at < body.length) {
    line++
    const end = body.indexOf(NEWLINE, at)
    if (end === at || isBlank(body, at, end)) {
      at = end + 1
      continue
    }
    const { action, meta } = parseActionLine(body.toString('utf8', at, end), line)
    at = end + 1
    if (action === 'delete') {
      items.push(itemOf(action, meta, defaultIndex, requireAlias, undefined))
      continue
    }
    const sourceEnd = at < body.length ? body.indexOf(NEWLINE, at) : -1
    if (sourceEnd < 0) throw illegalArgument(`Malformed action/metadata line [${line}]: no document follows it`)
    items.push(itemOf(action, meta, defaultIndex, requireAlias, body.subarray(at, sourceEnd)))
    at = sourceEnd + 1
    line++
  }
  if (items.length === 0) throw new ApiError(400, 'action_request_validation_exception', 'Validation Failed: 1: no requests added;')
  return items
}

function isBlank(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (body[at]! > 0x20) return false
  return true
}

/** The line as most clients write it: index and id, nothing else, no escapes. */
const PLAIN_LINE = /^\{"(index|create|update|delete)":\{"_index":"([^"\\]+)","_id":"([^"\\]+)"\}\}$/

function parseActionLine(text: string, line: number): { action: BulkAction; meta: JsonObject } {
  const plain = PLAIN_LINE.exec(text)
  if (plain !== null && !hasControls(text)) return { action: plain[1] as BulkAction, meta: { _index: plain[2], _id: plain[3] } }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT or END_OBJECT: ${cause.message}`)
  }
  if (!isObject(value))
    throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT but found [${text.slice(0, 50)}]`)
  let action: string | undefined
  for (const name in value) {
    if (action !== undefined) throw illegalArgument(`Malformed action/metadata line [${line}], expected END_OBJECT but found [${name}]`)
    action = name
  }
  if (action === undefined || !ACTIONS.includes(action))
    throw illegalArgument(
      `Malformed action/metadata line [${line}], expected field [create], [delete], [index] or [update] but found [${action ?? ''}]`,
    )
  const meta = value[action]
  if (!isObject(meta)) throw illegalArgument(`Malformed action/metadata line [${line}], expected START_OBJECT for [${action}]`)
  for (const name in meta) checkMember(name, meta[name], line)
  return { action: action as BulkAction, meta }
}

/** Control characters must be escaped in JSON. */
const hasControls = (text: string): boolean => /[\u0000-\u001f]/.test(text)

const MEMBERS = new Set([
  '_index',
  '_id',
  'if_seq_no',
  'if_primary_term',
  'routing',
  '_routing',
  'require_alias',
  'retry_on_conflict',
  'op_type',
])
const MEMBERS_ELSEWHERE = new Set([
  'pipeline',
  'version',
  '_version',
  'version_type',
  '_version_type',
  'dynamic_templates',
  '_source',
  'parent',
  '_type',
])

function checkMember(name: string, value: unknown, line: number): void {
  if (MEMBERS_ELSEWHERE.has(name)) throw unsupported(`action/metadata line [${line}]: parameter [${name}]`)
  if (!MEMBERS.has(name)) throw illegalArgument(`Action/metadata line [${line}] contains an unknown parameter [${name}]`)
  if (typeof value === 'object' && value !== null)
    throw illegalArgument(`Malformed action/metadata line [${line}], expected a simple value for field [${name}]`)
}

function itemOf(
  given: BulkAction,
  meta: JsonObject,
  defaultIndex: string | undefined,
  requireAlias: boolean,
  source: Buffer | undefined,
): BulkItem {
  const action = given === 'index' && meta['op_type'] === 'create' ? 'create' : given
  const index = meta['_index'] === undefined || meta['_index'] === null ? defaultIndex : String(meta['_index'])
  const givenId = meta['_id'] === undefined || meta['_id'] === null ? undefined : String(meta['_id'])
  const head = {
    action,
    index: index ?? '',
    id: givenId ?? null,
    requireAlias: meta['require_alias'] === undefined ? requireAlias : String(meta['require_alias']) === 'true',
  }
  if (index === undefined) throw new ApiError(400, 'action_request_validation_exception', 'Validation Failed: 1: index is missing;')
  if (givenId === undefined && (action === 'update' || action === 'delete'))
    throw new ApiError(400, 'action_request_validation_exception', 'Validation Failed: 1: id is missing;')
  const id = givenId ?? newId()
  if (id === '') return { ...head, op: undefined, error: illegalArgument('if _id is specified it must not be empty') }
  checkId(id)
  return { ...head, id, op: opOf(action, id, meta, source), error: undefined }
}

function opOf(action: BulkAction, id: string, meta: JsonObject, source: Buffer | undefined): WriteOp {
  const condition =
    meta['if_seq_no'] === undefined && meta['if_primary_term'] === undefined
      ? undefined
      : parseCondition(meta['if_seq_no'], meta['if_primary_term'])
  if (action === 'delete') return { action, id, ...condition }
  if (source === undefined) throw parsingError('a document is missing')
  if (action === 'update') return { action, id, ...parseUpdate(source, 0, source.length), ...condition }
  if (action === 'create' && condition !== undefined)
    throw new ApiError(
      400,
      'action_request_validation_exception',
      `Validation Failed: 1: create operations do not support compare and set. use index instead;`,
    )
  return condition === undefined ? { action, id, source } : { action, id, source, ...condition }
}
