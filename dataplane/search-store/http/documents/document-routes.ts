/** Single documents: `_doc`, `_create`, `_update`, `_source`, `_mget`. */

import { Readable } from 'node:stream'
import { isJsonObject } from '../../../json/is-json-object.ts'
import { ApiError, illegalArgument, indexNotFound, parsingError, unsupported, validationError } from '../../api-error.ts'
import type { Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { streamProblem } from '../../catalog/data-stream.ts'
import { applyTo } from '../../catalog/operation-counts.ts'
import { FULL_DISK_RETRY } from '../../full-disk.ts'
import { parseExact } from '../../json/exact-numbers.ts'
import { type JsonObject, readArray, readInteger, readObject, readScalar, readString, words } from '../../json/json-reader.ts'
import {
  applySourceFilterInTurns,
  newLookBudget,
  parseSourceFilter,
  type SourceFilter,
  sourceFilterOfParameters,
} from '../../query/show/source-filter.ts'
import type { StoredDocument, WriteOp } from '../../storage/index-storage.ts'
import { holdForAnswer } from '../answer/held-answers.ts'
import { JSON_TYPE } from '../answer/render.ts'
import type { Reply } from '../answer/reply.ts'
import { booleanParameter, NODE_PARAMETERS } from '../request/index-parameters.ts'
import { missingBody } from '../request/request-body.ts'
import { type Call, type Route, routes } from '../route.ts'
import { checkId, duplicateRefusal, isForcedRefresh, newId, parseCondition, parseUpdate, writeResult } from './write-request.ts'

const SOURCE_PARAMETERS = ['_source', '_source_includes', '_source_excludes'] as const
const READ_PARAMETERS = [...NODE_PARAMETERS, ...SOURCE_PARAMETERS, 'realtime', 'refresh', 'stored_fields', 'version', 'version_type']
const WRITE_PARAMETERS = [
  ...NODE_PARAMETERS,
  ...words('refresh if_seq_no if_primary_term require_alias op_type version version_type pipeline'),
]
const UPDATE_PARAMETERS = [...WRITE_PARAMETERS, ...SOURCE_PARAMETERS, 'retry_on_conflict', 'lang']

export const DOCUMENT_ROUTES: readonly Route[] = [
  ...routes(
    ['POST'],
    ['/:index/_doc'],
    WRITE_PARAMETERS,
    call => write(call, newId(), call.query.has('op_type') ? undefined : 'create'),
    'document',
  ),
  ...routes(['PUT', 'POST'], ['/:index/_doc/:id'], WRITE_PARAMETERS, call => write(call, call.path['id']!), 'document'),
  ...routes(['PUT', 'POST'], ['/:index/_create/:id'], WRITE_PARAMETERS, call => write(call, call.path['id']!, 'create'), 'document'),
  ...routes(['POST'], ['/:index/_update/:id'], UPDATE_PARAMETERS, update, 'document'),
  ...routes(['DELETE'], ['/:index/_doc/:id'], WRITE_PARAMETERS, remove, 'none'),
  ...routes(['GET', 'HEAD'], ['/:index/_doc/:id'], READ_PARAMETERS, read, 'none'),
  ...routes(['GET', 'HEAD'], ['/:index/_source/:id'], READ_PARAMETERS, readSource, 'none'),
  ...routes(['GET', 'POST'], ['/_mget', '/:index/_mget'], READ_PARAMETERS, readMany),
]

function refuseVersions(query: URLSearchParams): void {
  for (const name of ['version', 'version_type', 'pipeline', 'stored_fields']) if (query.has(name)) throw unsupported(`parameter [${name}]`)
}

/** Throws 409 where a document that is read has another version than the request names. */
function checkVersion({ id, version }: StoredDocument, query: URLSearchParams): void {
  const given = query.get('version')
  if (given === null) return
  const type = query.get('version_type') ?? 'internal'
  if (!['internal', 'external', 'external_gte'].includes(type)) throw illegalArgument(`No version type match [${type}]`)
  const wanted = readInteger(given, 'version', 0)
  if (version !== wanted)
    throw new ApiError(
      409,
      'version_conflict_engine_exception',
      `[${id}]: version conflict, current version [${version}] is different than the one provided [${wanted}]`,
    )
}

function refuseOfReading(query: URLSearchParams): void {
  if (query.has('stored_fields')) throw unsupported('parameter [stored_fields]')
}

async function apply(call: Call, index: CatalogIndex, op: WriteOp): Promise<Reply> {
  const problem = index.dataStream && streamProblem(index.dataStream, op, call.path['index'] !== index.name)
  if (problem !== undefined) throw problem
  const [outcome] = await applyTo(index, [op])
  const result = writeResult(op.id, outcome!, index, isForcedRefresh(call.query))
  if ('body' in result) {
    const headers = result.status === 201 ? { location: `/${encodeURIComponent(index.name)}/_doc/${encodeURIComponent(op.id)}` } : undefined
    return { status: result.status, body: result.body, ...(headers && { headers }) }
  }
  const { caused_by: _beneath, ...cause } = result.error
  const body = { error: { root_cause: [cause], ...result.error }, status: result.status }
  return { status: result.status, body, ...(result.status === 429 && { headers: FULL_DISK_RETRY }) }
}

function conditionOf(call: Call): ReturnType<typeof parseCondition> {
  return parseCondition(call.query.get('if_seq_no') ?? undefined, call.query.get('if_primary_term') ?? undefined)
}

async function writeIndex(call: Call, action: WriteOp['action']): Promise<CatalogIndex> {
  const name = call.path['index']!
  if (booleanParameter(call.query, 'require_alias') && !call.deps.catalog.isAlias(name))
    throw new ApiError(
      404,
      'index_not_found_exception',
      `no such index [${name}] and [require_alias] request flag is [true] and [${name}] is not an alias`,
    )
  return call.deps.catalog.writeTarget(name, action)
}

async function write(call: Call, id: string, forced?: 'create'): Promise<Reply> {
  refuseVersions(call.query)
  checkId(id)
  isForcedRefresh(call.query)
  const type = call.query.get('op_type') ?? 'index'
  if (type !== 'index' && type !== 'create') throw illegalArgument(`opType must be 'create' or 'index', found: [${type}]`)
  const action = forced ?? type
  const condition = conditionOf(call)
  if (action === 'create' && condition.ifSeqNo !== undefined)
    throw validationError('create operations do not support compare and set. use index instead')
  if (call.body.length === 0) throw missingBody()
  const refusal = duplicateRefusal(call.body)
  if (refusal !== undefined) throw refusal
  return apply(call, await writeIndex(call, action), { action, id, source: call.body, ...condition })
}

async function update(call: Call): Promise<Reply> {
  refuseVersions(call.query)
  const id = call.path['id']!
  checkId(id)
  isForcedRefresh(call.query)
  const op: WriteOp = { action: 'update', id, ...parseUpdate(call.body, 0, call.body.length), ...conditionOf(call) }
  const index = await writeIndex(call, 'update')
  if (op.ifSeqNo !== undefined && index.storage.get(id) === undefined)
    throw new ApiError(404, 'document_missing_exception', `[${id}]: document missing`, {
      details: { index: index.name, shard: '0', index_uuid: index.uuid },
    })
  const reply = await apply(call, index, op)
  const filter = sourceFilterOfParameters(call.query) ?? false
  if (filter === false || reply.status >= 300) return reply
  const [source] = await index.storage.getMany([id], document => sourceJson(document, filter))
  const { _seq_no, _primary_term } = reply.body as JsonObject
  // The document as it was written: its text goes in as it is stored.
  const head = JSON.stringify({ _seq_no, _primary_term, found: true }).slice(0, -1)
  return { ...reply, json: `${JSON.stringify(reply.body).slice(0, -1)},"get":${head},"_source":${source}}}` }
}

async function remove(call: Call): Promise<Reply> {
  refuseVersions(call.query)
  const { catalog } = call.deps
  const name = call.path['index']!
  if (!catalog.has(name)) throw indexNotFound(name, 'index_expression')
  return apply(call, await catalog.writeTarget(name, 'delete'), { action: 'delete', id: call.path['id']!, ...conditionOf(call) })
}

const decoder = new TextDecoder()

const missingJson = (index: CatalogIndex, id: string): string => JSON.stringify({ _index: index.name, _id: id, found: false })

function headJson(index: CatalogIndex, { id, version, seqNo }: StoredDocument): string {
  return JSON.stringify({ _index: index.name, _id: id, _version: version, _seq_no: seqNo, _primary_term: 1, found: true })
}

/** A document as JSON text. */
async function documentJson(index: CatalogIndex, document: StoredDocument, filter: SourceFilter): Promise<string> {
  const head = headJson(index, document)
  return filter === false ? head : `${head.slice(0, -1)},"_source":${await sourceJson(document, filter)}}`
}

async function sourceJson(document: StoredDocument, filter: Exclude<SourceFilter, false>): Promise<string> {
  const text = decoder.decode(document.source)
  return filter === true ? text : JSON.stringify(await applySourceFilterInTurns(parseExact(text), filter))
}

async function read(call: Call): Promise<Reply> {
  refuseOfReading(call.query)
  const index = call.deps.catalog.readTarget(call.path['index']!)
  const id = call.path['id']!
  const filter = sourceFilterOfParameters(call.query) ?? true
  const [json] = await index.storage.getMany([id], document => {
    checkVersion(document, call.query)
    return documentJson(index, document, filter)
  })
  countGet(index, json)
  return { status: json === undefined ? 404 : 200, json: json ?? missingJson(index, id) }
}

function countGet({ counts }: CatalogIndex, found: string | undefined): void {
  if (found === undefined) counts.missing++
  else counts.found++
}

async function readSource(call: Call): Promise<Reply> {
  refuseOfReading(call.query)
  const index = call.deps.catalog.readTarget(call.path['index']!)
  const id = call.path['id']!
  const filter = sourceFilterOfParameters(call.query) || true
  const [json] = await index.storage.getMany([id], document => {
    checkVersion(document, call.query)
    return sourceJson(document, filter)
  })
  countGet(index, json)
  if (json === undefined) throw new ApiError(404, 'resource_not_found_exception', `Document not found [${index.name}]/[${id}]`)
  return { status: 200, json }
}

const MAX_DOCUMENTS = 10_000
/** Bytes of all documents of one answer. */
const MAX_SHOWN_BYTES = 64 * 1024 * 1024
/** Bytes that a document takes beside its source, about: its head and its place. */
const SHOWN_BYTES = 256
/** Larger answers go out in the pieces that they are made of. */
const MAX_TEXT_BYTES = 1024 * 1024

async function readMany(call: Call): Promise<Reply> {
  const body = call.json()
  const items = wantedDocuments(body, call.path['index'])
  if (items.length === 0) throw validationError('no documents to get')
  if (items.length > MAX_DOCUMENTS) throw illegalArgument(`[_mget] may name at most ${MAX_DOCUMENTS} documents, found ${items.length}`)
  const common = sourceFilterOfParameters(call.query) ?? true
  const shown = new Array<Buffer>(items.length)
  const show = (at: number, json: string | Buffer) => {
    const document = Buffer.from(json)
    holdForAnswer(call.answerMemory, document.length + SHOWN_BYTES, MAX_SHOWN_BYTES, 'fewer documents, or a part of their [_source]')
    shown[at] = document
  }
  for (const [name, places] of Map.groupBy(items.keys(), at => items[at]!.index)) {
    const wanted = places.map(at => ({ id: items[at]!.id, filter: items[at]!.filter ?? common }))
    await readFrom(call.deps.catalog, name, wanted, (k, json) => show(places[k]!, json))
  }
  const pieces = [...shown.flatMap((document, at) => [at === 0 ? FIRST : COMMA, document]), END]
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= MAX_TEXT_BYTES || call.query.has('filter_path') || call.query.has('pretty'))
    return { status: 200, json: Buffer.concat(pieces).toString() }
  return { status: 200, answer: { status: 200, headers: { 'content-type': JSON_TYPE }, length, pieces: Readable.from(pieces) } }
}

const FIRST = Buffer.from('{"docs":[')
const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Gives each of the documents of one index, or what is to be shown in its place, to `show`. */
async function readFrom(
  catalog: Catalog,
  name: string,
  wanted: readonly { readonly id: string; readonly filter: SourceFilter }[],
  show: (k: number, json: string | Buffer) => void,
): Promise<void> {
  const found = new Set<number>()
  try {
    const index = catalog.readTarget(name)
    const ids = wanted.map(({ id }) => id)
    await index.storage.getMany(ids, (document, k) => {
      found.add(k)
      const { filter } = wanted[k]!
      if (filter === true) return show(k, documentBytes(index, document))
      return documentJson(index, document, filter).then(json => show(k, json))
    })
    for (const [k, id] of ids.entries()) if (!found.has(k)) show(k, missingJson(index, id))
  } catch (error) {
    if (!(error instanceof ApiError) || error.type === 'circuit_breaking_exception') throw error
    const cause = error.toCause()
    for (const [k, { id }] of wanted.entries()) show(k, JSON.stringify({ _index: name, _id: id, error: { root_cause: [cause], ...cause } }))
  }
}

/** A whole document, as `documentJson` has it, without a text of it. */
function documentBytes(index: CatalogIndex, document: StoredDocument): Buffer {
  return Buffer.concat([Buffer.from(`${headJson(index, document).slice(0, -1)},"_source":`), document.source, CLOSE])
}

const CLOSE = Buffer.from('}')

interface Wanted {
  readonly index: string
  readonly id: string
  readonly filter: SourceFilter | undefined
}

function wantedDocuments(body: JsonObject, defaultIndex: string | undefined): readonly Wanted[] {
  for (const key of Object.keys(body)) if (key !== 'docs' && key !== 'ids') throw parsingError(`unknown key [${key}] in [_mget]`)
  const budget = newLookBudget()
  const wanted = (item: unknown): Wanted => {
    const content = isJsonObject(item) ? item : { _id: item }
    for (const key of Object.keys(content)) {
      if (['stored_fields', '_stored_fields', 'version', 'version_type'].includes(key)) throw unsupported(`[_mget.docs] parameter [${key}]`)
      if (!['_index', '_id', '_source', 'routing'].includes(key)) throw parsingError(`unknown key [${key}] in [_mget.docs]`)
    }
    const index = content['_index'] === undefined ? defaultIndex : readString(content['_index'], '_mget._index')
    if (index === undefined) throw validationError('index is missing for doc 0')
    if (content['_id'] === undefined) throw validationError('id is missing for doc 0')
    return {
      index,
      id: String(readScalar(content['_id'], '_mget._id')),
      filter: content['_source'] === undefined ? undefined : parseSourceFilter(content['_source'], budget),
    }
  }
  const docs = body['docs'] === undefined ? [] : readArray(body['docs'], '_mget.docs').map(item => wanted(readObject(item, '_mget.docs')))
  const ids = body['ids'] === undefined ? [] : readArray(body['ids'], '_mget.ids').map(wanted)
  return [...docs, ...ids]
}
