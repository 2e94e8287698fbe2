/** A request that speaks for a tenant, and the ways to answer it: over HTTP/1.1 and HTTP/2 alike. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import type { Http2Request, Http2Response } from '../http/http2/messages.ts'
import type { RequestPath } from './request-path.ts'

export type GatewayRequest = IncomingMessage | Http2Request
export type GatewayResponse = ServerResponse | Http2Response

export interface Exchange {
  /** HTTP/2 requests have all that is used of it. */
  readonly request: IncomingMessage
  readonly response: GatewayResponse
  /** The tenant that the request speaks for; undefined: nobody in particular, as the keyless dashboard's callers may (Decisions 7). */
  readonly owner: { readonly tenant: string | undefined }
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal
}

/** A request that speaks for one tenant alone. */
export interface TenantExchange extends Exchange {
  readonly owner: { readonly tenant: string }
  readonly path: RequestPath
}

/** How long the rest of a body that nobody wants is read over, so that the caller gets to its answer. */
const UNWANTED_BODY_MS = 10_000

export function answerHead(response: GatewayResponse, status: number, headers: Readonly<Record<string, string | string[]>>): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

export function answerBytes(
  response: GatewayResponse,
  status: number,
  headers: Readonly<Record<string, string | string[]>>,
  body: Uint8Array,
): void {
  if (response.headersSent || response.destroyed) return
  answerHead(response, status, headers)
  response.setHeader('content-length', body.length)
  ;(response as ServerResponse).end(body)
}

export function answerJson(
  response: GatewayResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  const text = Buffer.from(JSON.stringify(body))
  answerBytes(response, status, { 'content-type': 'application/json; charset=utf-8', ...headers }, text)
}

export function answerError(response: GatewayResponse, error: HttpError): void {
  answerJson(response, error.status, error.toBody(), error.headers)
}

/** For an answer that comes before the end of its request: over HTTP/2 the caller is told to send no more, over HTTP/1.1 the rest is read over for a while. */
export function stopReading(request: GatewayRequest): void {
  if (request.complete || request.destroyed) return
  // The server of HTTP/2 says so with the answer.
  if ('mayHaveBody' in request) return
  const { socket } = request
  // A process that ends cuts its connections anyway.
  const cut = setTimeout(() => socket.destroy(), UNWANTED_BODY_MS).unref()
  // The request closes at its end and with its connection. A listener on the connection would stay for each request of it.
  request.once('close', () => clearTimeout(cut))
  request.resume()
}

export function methodNotAllowed(method: string | undefined, allowed: string): HttpError {
  return new HttpError(405, `${method} is not allowed here; allowed: ${allowed}`, { allow: allowed })
}
