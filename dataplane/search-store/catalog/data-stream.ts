/** Data streams: names under which documents are only ever added, each to the newest of the hidden indices behind the name. */
import { NOWHERE, skipSpace } from '../../json/bytes.ts'
import { roughEnd, roughMembers } from '../../json/rough.ts'
import { ApiError, illegalArgument } from '../api-error.ts'
import type { JsonObject } from '../json/json-reader.ts'
import { DocumentRejected } from '../mapping/document-rejected.ts'
import { parseJson } from '../mapping/parse-document.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { DEFAULT_TIMESTAMP_FIELD, type IndexBlueprint, mergeBlueprints } from './template.ts'

/** The stream that an index is part of. */
export interface StreamOfIndex {
  readonly name: string
  /** The field that each document has to have. */
  readonly timestampField: string
}

/** The stored record of a stream. */
export interface StreamRecord {
  readonly timestampField: string
  /** The number of its newest index; counts from 1. */
  readonly generation: number
}

/** Indices of a stream by age, the one that is written to last. */
export interface DataStream extends StreamRecord {
  readonly name: string
  readonly indices: readonly string[]
}

export const backingIndexName = (stream: string, generation: number): string =>
  `.ds-${stream}-${String(generation).padStart(GENERATION_DIGITS, '0')}`

const GENERATION_DIGITS = 6

/** Throws 400 for a name that no stream may have. */
export function checkStreamName(name: string): void {
  if (name !== name.toLowerCase()) throw illegalArgument(`data_stream [${name}] must be lowercase`)
  if (name.startsWith('.')) throw illegalArgument(`data_stream [${name}] must not start with '.'`)
}

/** Each index of a stream has a date, and is passed over by patterns, also where the template says otherwise. */
export function streamBlueprint(timestampField: string, template: IndexBlueprint): IndexBlueprint {
  const base = { settings: {}, mappings: { properties: { [timestampField]: { type: 'date' } } }, aliases: {} }
  return mergeBlueprints(mergeBlueprints(base, template), { settings: { 'index.hidden': 'true' }, mappings: {}, aliases: {} })
}

/** As a mapping shows it. */
export function shownTimestampField({ timestampField }: StreamOfIndex): JsonObject {
  const name = timestampField === DEFAULT_TIMESTAMP_FIELD ? {} : { timestamp_field: { name: timestampField } }
  return { _data_stream_timestamp: { enabled: true, ...name } }
}

export const onlyCreates = (): ApiError => illegalArgument('only write ops with an op_type of create are allowed in data streams')

/**
 * Why an operation may not be done on an index of a stream, undefined where it may. Through the stream documents are only added;
 * by the name of the index they are only changed and deleted.
 */
export function streamProblem({ name, timestampField }: StreamOfIndex, op: WriteOp, isThroughStream: boolean): ApiError | undefined {
  const { action } = op
  if (isThroughStream && action !== 'create') return onlyCreates()
  if (!isThroughStream && (action === 'create' || (action === 'index' && op.ifSeqNo === undefined))) {
    const what = action === 'create' ? 'op_type=create' : 'op_type=index and no if_primary_term and if_seq_no set'
    return illegalArgument(
      `index request with ${what} targeting backing indices is disallowed, target corresponding data stream [${name}] instead`,
    )
  }
  if (action === 'delete' || action === 'update') return undefined
  return hasOneValue(op.source, timestampField)
    ? undefined
    : new ApiError(400, 'mapper_parsing_exception', 'failed to parse', {
        causedBy: {
          type: 'illegal_argument_exception',
          reason: `documents must contain a single-valued timestamp field '${timestampField}' of date type`,
        },
      })
}

/** True also of a document that is malformed: the index refuses it. */
function hasOneValue(source: Uint8Array, field: string): boolean {
  const start = skipSpace(source, 0, source.length)
  const end = roughEnd(source, start)
  const members = end === NOWHERE ? undefined : roughMembers(source, { start, end })
  if (members === undefined) return true
  const range = members.get(field)
  return range !== undefined && countValues(source.subarray(range.start, range.end)) === 1
}

/** Values of a member: those of a list are counted, `null` is none. */
function countValues(bytes: Uint8Array): number {
  try {
    return [parseJson(bytes)].flat(Number.POSITIVE_INFINITY).filter(value => value !== null).length
  } catch (error) {
    if (error instanceof DocumentRejected) return 1
    throw error
  }
}
