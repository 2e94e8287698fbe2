import { ApiError } from './api-error.ts'

/** The primary code of SQLite's errors. */
const SQLITE_FULL = 13

/** A full disk is named as OpenSearch names its own flood-stage block; callers may try again later. Undefined for other errors. */
export function fullDiskError(error: unknown): ApiError | undefined {
  if (!(error instanceof Error)) return undefined
  const isFull =
    ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) ||
    ('errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_FULL)
  return isFull
    ? new ApiError(429, 'cluster_block_exception', `blocked by: [TOO_MANY_REQUESTS/12/disk is full: ${error.message}]`)
    : undefined
}
