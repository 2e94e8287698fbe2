import type { IncomingMessage, ServerResponse } from 'node:http'
import { releaseBytes } from '../memory/release-bytes.ts'

/**
 * Ends an answer that is written as a whole before its request has come as a whole: once the rest was read over, `ms` later at the latest.
 * A connection that is closed with bytes unread is reset, and takes the answer along. The memory of the rest goes back at once: requests are refused where there is too little.
 */
export function endAfterRequest(request: IncomingMessage, response: ServerResponse, ms: number): void {
  const cut = setTimeout(() => request.destroy(), ms)
  request.once('end', () => response.end())
  request.once('close', () => clearTimeout(cut))
  request.on('data', releaseBytes)
  request.resume()
}
