import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** An HTTP or HTTPS server of Node whose listeners are there. */
interface NodeServer extends EventEmitter {
  closeIdleConnections(): void
}

/**
 * Closes the connections of a server that stops: idle ones at once, the others with the answer under way, which says so. Node would keep the others for the
 * next request of their clients, and the stop would wait for the whole of its grace.
 */
export function closerWhenIdle(server: NodeServer): () => void {
  const underWay = new Set<ServerResponse>()
  let isStopping = false
  const follow = (request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    const end = () => {
      underWay.delete(response)
      if (isStopping) server.closeIdleConnections()
    }
    // The rest of a request that was answered before its end is read over first.
    response.once('close', () => (request.complete || request.destroyed ? end() : request.once('close', end)))
  }
  // Node asks for a listener of its own to requests that expect something, before it answers them itself.
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    if (server.listenerCount(event) > 0) server.prependListener(event, follow)
  return () => {
    isStopping = true
    // Bytes that were not read reset a connection that closes with its answer, and the answer is lost: the end of such a request comes first.
    for (const response of underWay) if (response.req.complete) response.shouldKeepAlive = false
    server.closeIdleConnections()
  }
}
