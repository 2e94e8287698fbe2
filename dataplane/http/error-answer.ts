/** Which answer an error gets. */
import { OnlineStoreUnavailable } from '../ports/online-store.ts'
import { SearchStoreUnavailable, VersionConflict } from '../ports/search-store.ts'
import { HttpError } from './http-error.ts'

/** Never a stack trace, and never the text of an error that was not meant for the caller. */
export function answerForError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof SearchStoreUnavailable)
    return new HttpError(503, 'the search store cannot be reached', { 'retry-after': '1' }, { cause: error })
  if (error instanceof OnlineStoreUnavailable)
    return new HttpError(503, 'the online store cannot be reached', { 'retry-after': '1' }, { cause: error })
  if (error instanceof VersionConflict) return new HttpError(409, error.message, {}, { cause: error })
  const status = expressStatus(error)
  if (status !== undefined) return new HttpError(status, `malformed request: ${(error as Error).message}`, {}, { cause: error })
  return new HttpError(500, 'internal error', {}, { cause: error })
}

/** Express marks what it refuses itself, such as a path that is not valid percent-encoding. */
function expressStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500 ? error.status : undefined
}
