/** `POST /api/upload` (Decisions 7). */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tenantOf } from '../../../http/control-request.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { runUpload, UploadFailure, type UploadResult } from './upload.ts'
import { createUploadPlaces, type UploadPlace } from './upload-places.ts'
import type { UploadSender } from './upload-sender.ts'
import { FORM_BYTES, readUploadedFile } from './uploaded-file.ts'

export const UPLOAD_PATH = '/api/upload'
/** As sent, and unpacked. */
const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024

export interface UploadRouteDeps {
  readonly collector: Pick<UploadSender, 'send'>
  /** The most that the collector takes. */
  readonly maxRequestBytes: number
  readonly clock: Clock
  readonly log: Log
  /** Default `MAX_UPLOAD_BYTES`. */
  readonly maxBytes?: number
  readonly onResult: (result: UploadResult) => void
}

/** Resolves once the upload is answered; rejects with `HttpError` for the caller to answer. */
export function createUploadRoute(deps: UploadRouteDeps) {
  const { collector, maxRequestBytes, clock, log, maxBytes = MAX_UPLOAD_BYTES, onResult } = deps
  const places = createUploadPlaces(() => monotonicMs(clock))

  async function receive(request: IncomingMessage, response: ServerResponse, place: UploadPlace): Promise<UploadResult> {
    const tenant = tenantOf(request)
    if (Number(request.headers['content-length'] ?? 0) > maxBytes + FORM_BYTES)
      throw new HttpError(413, `the upload is larger than ${maxBytes} bytes; split it`)
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('the client hung up')))
    const origin = { batchId: randomUUID(), tenant }
    try {
      const file = readUploadedFile(request, place.bodyOf(request), maxBytes)
      const result = await runUpload(file, { collector, origin, maxRequestBytes, nowMs: clock.nowMs(), signal: gone.signal })
      onResult(result)
      return result
    } catch (error) {
      if (error instanceof UploadFailure) onResult(error.result)
      throw error
    }
  }

  return async (request: IncomingMessage, response: ServerResponse, query: string): Promise<void> => {
    if (request.method !== 'POST') throw new HttpError(405, `${request.method} is not allowed here; allowed: POST`, { allow: 'POST' })
    if (query.length > 1) throw new HttpError(400, 'query: expected none')
    const place = places.enter()
    try {
      const result = await receive(request, response, place)
      const { batchId, accepted, rejected } = result
      log.info({ batchId, accepted, rejected }, 'uploaded')
      const body = JSON.stringify(result)
      const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }
      response.writeHead(200, headers).end(body)
    } finally {
      place.leave()
    }
  }
}
