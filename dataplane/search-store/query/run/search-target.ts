/** The indices of a search, and the failures of indices that cannot run it. */
import { ApiError } from '../../api-error.ts'
import type { ReadableIndex } from '../../storage/index-storage.ts'
import type { Query } from '../parse/query.ts'

export interface SearchTarget {
  readonly storage: ReadableIndex
  /** The filter of the alias through which the index was named. */
  readonly filter: Query | undefined
}

export interface ShardFailure {
  readonly shard: number
  readonly index: string
  readonly node: string
  readonly status: number
  readonly reason: Record<string, unknown>
  /** The rest of the index answers. */
  readonly isPartial?: true
}

/** Throws errors on that are not the request's fault. */
export function shardFailure(error: unknown, { name, uuid }: ReadableIndex): ShardFailure {
  if (!(error instanceof ApiError)) throw error
  return { shard: 0, index: name, node: 'embedded', status: error.status, reason: { ...error.toCause(), index: name, index_uuid: uuid } }
}

/** A part of the index cannot be read. */
export const partialFailure = (error: ApiError, index: ReadableIndex): ShardFailure => ({ ...shardFailure(error, index), isPartial: true })

/** A failure as answers have it. */
export const shownFailure = ({ status: _status, isPartial: _isPartial, ...failure }: ShardFailure) => failure

/** The answer when every index refuses. */
export const allShardsFailed = (failures: readonly ShardFailure[]): ApiError => shardsFailed('all shards failed', failures)

/** The answer when an index refuses, and the request asks for all or nothing. */
export const someShardsFailed = (failures: readonly ShardFailure[]): ApiError => shardsFailed('Partial shards failure', failures)

function shardsFailed(what: string, failures: readonly ShardFailure[]): ApiError {
  const first = failures[0]!
  return new ApiError(first.status, 'search_phase_execution_exception', what, {
    rootCause: failures.map(failure => failure.reason),
    details: { phase: 'query', grouped: true, failed_shards: failures.map(shownFailure) },
    causedBy: first.reason,
  })
}

/** The answer to a search that no index can run, whichever. */
export function allShardsRefused(error: ApiError): ApiError {
  const reason = error.toCause()
  return new ApiError(error.status, 'search_phase_execution_exception', 'all shards failed', {
    rootCause: [reason],
    details: { phase: 'query', grouped: true, failed_shards: [] },
    causedBy: reason,
  })
}
