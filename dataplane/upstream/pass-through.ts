/** A request that goes on to a back end as it comes in, and its answer back. */
import { PassThrough } from 'node:stream'
import type { Dispatcher } from 'undici'
import { answerHead, type Exchange, stopReading } from './exchange.ts'
import { answerHeaders, type HeaderPolicy } from './headers.ts'
import { CALLER_GONE } from './kept-connections.ts'

/** A stream of its own: the client of the back end closes what it could not send, and the caller must still get an answer. */
export function bodyOf(request: Exchange['request']): PassThrough | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const hasBody = (length !== undefined && length !== '0') || encoding !== undefined || isOpenStream(request)
  return hasBody ? request.pipe(new PassThrough()) : null
}

/** A request over HTTP/2 of which a body may come, though its length is not told. */
function isOpenStream(request: object): boolean {
  return 'mayHaveBody' in request && request.mayHaveBody === true
}

/** Resolves once the answer is on its way as a whole, or broke off after its head; rejects with what came in place of a head. */
export function passThrough(
  to: Dispatcher,
  sent: Dispatcher.DispatchOptions,
  { request, response, signal }: Exchange,
  policy: HeaderPolicy | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let cancel: () => void = () => undefined
    const onGone = () => cancel()
    const done = (end: () => void) => {
      signal.removeEventListener('abort', onGone)
      end()
    }
    signal.addEventListener('abort', onGone)
    to.dispatch(sent, {
      onRequestStart(controller) {
        cancel = () => controller.abort(CALLER_GONE)
        if (signal.aborted) cancel()
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) return
        answerHead(response, status, answerHeaders(headers, policy))
        response.on('drain', () => controller.resume())
      },
      onResponseData(controller, piece) {
        if (!(response as NodeJS.WritableStream).write(piece)) controller.pause()
      },
      onResponseEnd() {
        // A back end may answer before it has read all.
        if (sent.body instanceof PassThrough) request.unpipe(sent.body)
        stopReading(request)
        response.end()
        done(resolve)
      },
      onResponseError(_controller, error) {
        if (!response.headersSent) return done(() => reject(error))
        // A break on the way reaches the caller as one.
        response.destroy()
        done(resolve)
      },
    })
  })
}
