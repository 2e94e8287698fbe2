import type { IncomingMessage, RequestListener, Server } from 'node:http'

/**
 * Tells a client that waits for `100 Continue` to send its body once somebody begins to read the body. A request that is answered before, such as one that is
 * too large, gets its answer in place of the body (RFC 9110, 10.1.1); Node would ask for each body first.
 */
export function continueWhenRead(server: Server, serve: RequestListener): void {
  server.on('checkContinue', (request: IncomingMessage, response) => {
    request._read = size => {
      Reflect.deleteProperty(request, '_read')
      if (!response.headersSent && !response.destroyed) response.writeContinue()
      request._read(size)
    }
    serve(request, response)
  })
}
