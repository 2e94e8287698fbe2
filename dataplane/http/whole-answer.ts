/** Answers that reach a client which closes the connection behind them, though its request was not read to its end. */
import { Buffer } from 'node:buffer'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { endAfterRequest } from './end-after-request.ts'

/** How long the rest of such a request is read over. */
const REST_MS = 10_000

/**
 * Node closes a connection with the end of its last answer. Bytes that were not read by then reset it, and the client loses the answer: a 413 or a 401
 * to a large request is such a one. The end waits for the end of the request here; head and body of the answer go out at once.
 */
export function withWholeAnswers(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (!response.shouldKeepAlive && mayHaveBody(request)) endLate(request, response)
    listener(request, response)
  }
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function endLate(request: IncomingMessage, response: ServerResponse): void {
  // A member of the response itself: express gives it another prototype.
  response.end = (...sent: unknown[]) => {
    Reflect.deleteProperty(response, 'end')
    const end = response.end as (...sent: unknown[]) => ServerResponse
    if (request.complete || response.destroyed) return end.apply(response, sent)
    const [body, encoding] = sent
    if (typeof body === 'string' || body instanceof Uint8Array)
      writeLast(response, Buffer.from(body as string, encoding as BufferEncoding | undefined))
    else response.flushHeaders()
    endAfterRequest(request, response, REST_MS)
    return response
  }
}

function writeLast(response: ServerResponse, body: Buffer): void {
  const isMeasured = response.hasHeader('content-length') || response.hasHeader('transfer-encoding')
  if (!response.headersSent && !isMeasured) response.setHeader('content-length', body.length)
  // A piece alone would take no head along where the answer has no body (HEAD).
  response.flushHeaders()
  response.write(body)
}
