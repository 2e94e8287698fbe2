import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Ends an answer that is written as a whole before its request has come as a whole: once the rest was read over, `ms` later at the latest.
 * A connection that is closed with bytes unread is reset, and takes the answer along.
 */
export function endAfterRequest(request: IncomingMessage, response: ServerResponse, ms: number): void {
  const cut = setTimeout(() => request.destroy(), ms)
  request.once('end', () => response.end())
  request.once('close', () => clearTimeout(cut))
  request.resume()
}
