import { createServer, type Socket } from 'node:net'
import type { Log } from '../../telemetry/log.ts'
import { type HttpServer, type ListenConfig, listen } from '../server.ts'
import { Http2Connection } from './connection.ts'
import type { RequestHandler } from './stream.ts'

export interface Http2ServerDeps {
  /** Makes the handler of a connection. */
  readonly createHandler: () => RequestHandler
  readonly nowMs: () => number
  readonly log: Log
  /** How often what takes too long is looked for. */
  readonly checkMs?: number
}

/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000
const CHECK_MS = 5_000

/** HTTP/2 in plain text. */
export async function startHttp2Server(
  { createHandler, nowMs, log, checkMs = CHECK_MS }: Http2ServerDeps,
  at: ListenConfig,
): Promise<HttpServer> {
  const connections = new Set<Http2Connection>()
  const onFault = (error: Error) => log.debug({ error }, 'HTTP/2 connection failed')
  const accept = (socket: Socket) => {
    const connection = new Http2Connection(socket, { handler: createHandler(), nowMs, onFault })
    connections.add(connection)
    socket.on('error', onFault)
    socket.on('close', () => connections.delete(connection))
  }
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS }, accept)
  const listening = await listen(server, at, {
    close() {
      for (const connection of connections) connection.close()
    },
    cut() {
      for (const connection of connections) connection.destroy()
    },
  })
  const checking = setInterval(() => {
    const now = nowMs()
    for (const connection of connections) connection.check(now)
  }, checkMs).unref()
  server.once('close', () => clearInterval(checking))
  return listening
}
