import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** An HTTP or HTTPS server of Node whose listeners are there. */
interface NodeServer extends EventEmitter {
  closeIdleConnections(): void
}

/** The end of a server's connections. */
export interface IdleCloser {
  /** From now on answers say that their connection closes with them. */
  announce(): void
  /** Closes those that are idle; the others close with the answer under way. */
  close(): void
}

/**
 * Closes the connections of a server that stops: idle ones at once, the others with the answer under way, which says so. Node would keep the others for the
 * next request of their clients, and the stop would wait for the whole of its grace.
 */
export function closerWhenIdle(server: NodeServer): IdleCloser {
  const underWay = new Set<ServerResponse>()
  let isAnnounced = false
  let isStopping = false
  const follow = (request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    if (isAnnounced) response.shouldKeepAlive = false
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
  const announce = () => {
    if (isAnnounced) return
    isAnnounced = true
    for (const response of underWay) {
      const closes = () => {
        response.shouldKeepAlive = false
      }
      // Bytes that were not read reset a connection that closes with its answer, and the answer is lost: the end of such a request comes first.
      if (response.req.complete) closes()
      else response.req.prependOnceListener('end', closes)
    }
  }
  return {
    announce,
    close() {
      announce()
      isStopping = true
      server.closeIdleConnections()
    },
  }
}
