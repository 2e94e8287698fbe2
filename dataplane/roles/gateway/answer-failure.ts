/** Errors at the gateway, in the form that the caller expects. */
import { HttpError } from '../../http/http-error.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { failedAnswer, mediaTypeOf, PROTOBUF_TYPE } from '../../tenant-export/export-answer.ts'
import { answerBytes, answerError, type GatewayRequest, type GatewayResponse } from '../../upstream/exchange.ts'
import { EXPORT_PATHS } from './ingest/plain-exports.ts'

/** Statuses whose JSON bodies the specification shows. */
const SHOWN: ReadonlySet<number> = new Set([401, 502])

/** Answers with an error; where the request is an export, in the collector's form (Decisions 3). */
export function answerFailure(request: GatewayRequest, response: GatewayResponse, error: HttpError): void {
  const isExport = EXPORT_PATHS.includes((request.url ?? '').split('?', 1)[0]!)
  const type = mediaTypeOf(request.headers['content-type'])
  if (!isExport || (type !== PROTOBUF_TYPE && SHOWN.has(error.status))) answerError(response, error)
  else {
    const { status, headers, body } = failedAnswer(type, error)
    answerBytes(response, status, headers, body)
  }
}

/** Never the text of an error that was not meant for the caller. */
export function errorOf(error: unknown, log: Log): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof SearchStoreUnavailable) return new HttpError(503, error.forCallers, { 'retry-after': '1' }, { cause: error })
  log.error({ error }, 'request failed')
  return new HttpError(500, 'internal error', {}, { cause: error })
}
