import { ApiError } from './api-error.ts'

/** The primary code of SQLite's errors. */
const SQLITE_FULL = 13

/** Whether a write failed because the disk, or the share of its user, is full. */
export function isDiskFull(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return (
    ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) ||
    ('errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_FULL)
  )
}

/** Seconds after which a write that a full disk refused may be sent again: somebody, or retention, has to make room. */
export const FULL_DISK_RETRY = { 'retry-after': '5' }

/** A full disk is named as OpenSearch names its own flood-stage block; callers may try again later. Undefined for other errors. */
export function fullDiskError(error: unknown): ApiError | undefined {
  return isDiskFull(error)
    ? new ApiError(429, 'cluster_block_exception', `blocked by: [TOO_MANY_REQUESTS/12/disk is full: ${error.message}]`, {
        headers: FULL_DISK_RETRY,
      })
    : undefined
}
