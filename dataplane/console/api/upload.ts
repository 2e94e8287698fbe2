/** Upload of files (Decisions 7), with progress: `fetch` cannot tell how much of a body has gone out. */
import { TENANT_HEADER } from '../../contract/headers.ts'
import { jsonOf } from '../../json/json-of.ts'
import { BASE_PATH } from '../url-state/base-path.ts'
import { describeFailure, errorOfBody, type Problem, RequestProblem } from './problem.ts'

export interface UploadAnswer {
  readonly batchId: string
  readonly accepted: number
  readonly rejected: number
  /** The first of them. */
  readonly errors: readonly { readonly line: number; readonly error: string }[]
}

export interface UploadOptions {
  /** Whose records the entries become. */
  readonly tenant: string | undefined
  /** Bytes that have gone out, 0 to 1. */
  readonly onProgress: (share: number) => void
  readonly signal: AbortSignal
}

const PATH = '/api/upload'
const NOT_READ: Problem = {
  message: 'The file changed or was moved since it was chosen, or is a folder.',
  status: undefined,
  whatToDo: 'Choose it again; of a log that is still written to, send a copy.',
}

/** Rejects with `RequestProblem`, or with the reason of the signal. */
export function uploadFile(file: Blob, { tenant, onProgress, signal }: UploadOptions): Promise<UploadAnswer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const fail = (kind: 'network' | 'unreadable') => reject(new RequestProblem(describeFailure(PATH, { kind })))
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total)
    // A browser tells no more of an error: whether the file is to blame is seen by reading some of it.
    request.onerror = () => void isReadable(file).then(isThere => (isThere ? fail('network') : reject(new RequestProblem(NOT_READ))))
    request.onabort = () => reject(signal.reason)
    request.onload = () => {
      const body = jsonOf(request.responseText)
      if (request.status !== 200)
        return reject(new RequestProblem(describeFailure(PATH, { kind: 'status', status: request.status, error: errorOfBody(body) })))
      if (body === undefined) return fail('unreadable')
      resolve(body as UploadAnswer)
    }
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort)
    request.open('POST', BASE_PATH + PATH)
    if (tenant !== undefined) request.setRequestHeader(TENANT_HEADER, tenant)
    request.send(file)
  })
}

function isReadable(file: Blob): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
}
