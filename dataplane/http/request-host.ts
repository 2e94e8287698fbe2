/**
 * The host that a request names (RFC 9112, 3.2; RFC 9113, 8.3.1). Servers and proxies that read different ones of several hosts
 * can be played off against each other.
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { endAfterRequest } from './end-after-request.ts'
import { type ErrorBody, errorBody } from './http-error.ts'

/** A name or an address, and a port; empty where the target of the request names none. */
const HOST = /^(?:\[[\w:.%]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/** How long the rest of a refused request is read over. */
const REST_MS = 2_000

export const isHost = (text: string): boolean => HOST.test(text)

/** Whether a request over HTTP/2 with both names one host with them. */
export function isSameHost(authority: string, host: string): boolean {
  return authority.toLowerCase() === host.toLowerCase()
}

/** Answers requests over HTTP/1 that do not name one host with 400, and closes their connections. For servers with `requireHostHeader: false`. */
export function withOneHost(listener: RequestListener, bodyOf: ErrorBody = errorBody): RequestListener {
  return (request, response) => {
    const fault = hostFault(request)
    if (fault === undefined) return listener(request, response)
    const body = JSON.stringify(bodyOf(400, fault))
    response.writeHead(400, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
    })
    response.write(body)
    endAfterRequest(request, response, REST_MS)
  }
}

function hostFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return 'Host: expected one header of this name, seen several'
    host = rawHeaders[at + 1]!
  }
  if (host === undefined) return httpVersion === '1.1' ? 'Host: expected this header, seen none' : undefined
  return isHost(host) ? undefined : 'Host: expected a name or an address, and a port'
}
