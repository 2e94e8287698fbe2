/** The common parts of single documents and bulk items: conditions, ids, outcomes. */
import { randomBytes } from 'node:crypto'
import { NOWHERE, skipSpace } from '../../../json/bytes.ts'
import { roughEnd, roughMembers } from '../../../json/rough.ts'
import { ApiError, duplicateField, illegalArgument, unsupported, validationError } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { duplicateNameOf } from '../../json/duplicate-name.ts'
import type { JsonObject } from '../../json/json-reader.ts'
import type { WriteError, WriteOutcome } from '../../storage/index-storage.ts'
import { didYouMean } from '../request/did-you-mean.ts'

const MAX_ID_BYTES = 512
/** The most bytes of UTF-8 that one unit of a string's length takes. */
const MAX_BYTES_PER_UNIT = 3

export function checkId(id: string): void {
  if (id === '') throw validationError('id is missing')
  if (id.length * MAX_BYTES_PER_UNIT <= MAX_ID_BYTES) return
  const bytes = Buffer.byteLength(id)
  if (bytes > MAX_ID_BYTES)
    throw validationError(`id [${id.slice(0, 64)}…] is too long, must be no longer than ${MAX_ID_BYTES} bytes but was: ${bytes}`)
}

/** An id for a document that came without one. */
export const newId = (): string => randomBytes(15).toString('base64url')

const UPDATE_MEMBERS = ['doc', 'upsert', 'doc_as_upsert', 'detect_noop', 'if_seq_no', 'if_primary_term', 'retry_on_conflict']
const ELSEWHERE = new Set(['script', 'scripted_upsert', 'params', 'lang', 'fields', '_source'])

/** The refusal of a document that has a name twice; undefined for any other. */
export function duplicateRefusal(document: Uint8Array): ApiError | undefined {
  const name = duplicateNameOf(document)
  if (name === undefined) return undefined
  return new ApiError(400, 'mapper_parsing_exception', 'failed to parse', { causedBy: duplicateField(name).toCause() })
}

/** Whether a write asks to be visible at once. It always is; the answer says so where OpenSearch does. */
export function isForcedRefresh(query: URLSearchParams): boolean {
  const value = query.get('refresh')
  if (value === null || value === 'false' || value === 'wait_for') return false
  if (value === '' || value === 'true') return true
  throw illegalArgument(`Unknown value for refresh: [${value}].`)
}

/** The body of an update, as byte ranges of it. Throws 400 for what it must not hold. `isTrusted`: it has no name twice. */
export function parseUpdate(
  bytes: Uint8Array,
  start: number,
  end: number,
  isTrusted = false,
): { partial: Uint8Array; upsert?: Uint8Array; isWrittenUnchanged?: boolean } {
  const open = skipSpace(bytes, start, end)
  if (open === end) throw validationError('script or doc is missing')
  const close = roughEnd(bytes, open, end)
  const isOne = close !== NOWHERE && skipSpace(bytes, close, end) === end
  const members = isOne ? roughMembers(bytes, { start: open, end: close }) : undefined
  if (members === undefined) throw new ApiError(400, 'x_content_parse_exception', 'Failed to parse the update: it must be a JSON object')
  for (const name of members.keys()) {
    if (ELSEWHERE.has(name)) throw unsupported(`[UpdateRequest] member [${name}]`)
    if (!UPDATE_MEMBERS.includes(name))
      throw new ApiError(400, 'x_content_parse_exception', `[UpdateRequest] unknown field [${name}]${didYouMean(name, UPDATE_MEMBERS)}`)
  }
  const read = (name: string): Uint8Array | undefined => {
    const range = members.get(name)
    return range === undefined ? undefined : bytes.subarray(range.start, range.end)
  }
  if (!isTrusted) refuseDuplicates(bytes.subarray(start, end), read)
  const textOf = (name: string): string => Buffer.from(read(name) ?? []).toString('utf8')
  const detectNoop = DETECT_NOOP.get(textOf('detect_noop'))
  if (detectNoop === undefined) throw new ApiError(400, 'x_content_parse_exception', '[UpdateRequest] failed to parse field [detect_noop]')
  const partial = read('doc')
  if (partial === undefined) throw validationError('script or doc is missing')
  const upsert = textOf('doc_as_upsert') === 'true' ? partial : read('upsert')
  return { partial, ...(upsert !== undefined && { upsert }), ...(!detectNoop && { isWrittenUnchanged: true }) }
}

/** By the text of the member, which is empty where it is not given. */
const DETECT_NOOP: ReadonlyMap<string, boolean> = new Map([
  ...['', 'true', '"true"'].map(text => [text, true] as const),
  ...['false', '"false"'].map(text => [text, false] as const),
])

function refuseDuplicates(body: Uint8Array, read: (name: string) => Uint8Array | undefined): void {
  const name = duplicateNameOf(body)
  if (name === undefined) return
  for (const member of ['doc', 'upsert']) {
    const inner = duplicateNameOf(read(member) ?? NO_BYTES)
    if (inner === undefined) continue
    const causedBy = duplicateField(inner).toCause()
    throw new ApiError(400, 'x_content_parse_exception', `[UpdateRequest] failed to parse field [${member}]`, { causedBy })
  }
  throw duplicateField(name)
}

const NO_BYTES = new Uint8Array(0)

/** `if_seq_no` and `if_primary_term`, which come together. */
export function parseCondition(ifSeqNo: unknown, ifPrimaryTerm: unknown): { ifSeqNo?: number; ifPrimaryTerm?: number } {
  if (ifSeqNo === undefined && ifPrimaryTerm === undefined) return {}
  const seqNo = integerOf(ifSeqNo, 'if_seq_no')
  const term = integerOf(ifPrimaryTerm, 'if_primary_term')
  if (seqNo === undefined || term === undefined)
    throw validationError(
      seqNo === undefined ? 'ifSeqNo is unassigned, but primary term is set' : 'ifSeqNo is set, but primary term is [0]',
    )
  return { ifSeqNo: seqNo, ifPrimaryTerm: term }
}

function integerOf(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = Number(value)
  if (typeof value !== 'boolean' && Number.isInteger(number) && number >= 0) return number
  throw new ApiError(
    400,
    'illegal_argument_exception',
    `Failed to parse [${name}] with value [${String(value)}]: it must be an integer not below 0`,
  )
}

const SHARDS = { total: 1, successful: 1, failed: 0 }
const STATUS = { created: 201, updated: 200, deleted: 200, noop: 200, not_found: 404 } as const

export type WriteResult = { readonly status: number; readonly body: JsonObject } | { readonly status: number; readonly error: JsonObject }

/** An outcome in OpenSearch's shape. */
export function writeResult(id: string, outcome: WriteOutcome, index: CatalogIndex, forcedRefresh: boolean): WriteResult {
  if ('error' in outcome) return { status: outcome.error.status, error: writeErrorBody(outcome.error, index) }
  const { result, seqNo, version } = outcome
  return {
    status: STATUS[result],
    body: {
      _index: index.name,
      _id: id,
      _version: version,
      result,
      ...(forcedRefresh && result !== 'noop' && { forced_refresh: true }),
      _shards: result === 'noop' ? { total: 0, successful: 0, failed: 0 } : SHARDS,
      _seq_no: seqNo,
      _primary_term: 1,
    },
  }
}

/** Errors of the storage name their index and shard, refusals of the document itself do not. */
function writeErrorBody(error: WriteError, index: CatalogIndex): JsonObject {
  const { type, reason, status, causedBy } = error
  if (status === 400) return { type, reason, ...(causedBy && { caused_by: { ...causedBy } }) }
  return { type, reason, index: index.name, shard: '0', index_uuid: index.uuid }
}
