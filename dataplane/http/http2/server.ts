import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Log } from '../../telemetry/log.ts'
import { type ListenConfig, listenError } from '../server.ts'
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

export interface Http2Server {
  readonly port: number
  /** Takes no new requests, lets those under way finish for up to `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000
const STOP_GRACE_MS = 5_000
const CHECK_MS = 5_000

/** HTTP/2 in plain text. */
export async function startHttp2Server(
  { createHandler, nowMs, log, checkMs = CHECK_MS }: Http2ServerDeps,
  listen: ListenConfig,
): Promise<Http2Server> {
  const connections = new Set<Http2Connection>()
  const onFault = (error: Error) => log.debug({ error }, 'HTTP/2 connection failed')
  const accept = (socket: Socket) => {
    const connection = new Http2Connection(socket, { handler: createHandler(), nowMs, onFault })
    connections.add(connection)
    socket.on('error', onFault)
    socket.on('close', () => connections.delete(connection))
  }
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS }, accept)
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(error, listen)))
    server.listen(listen.port, listen.host, resolve)
  })
  const checking = setInterval(() => {
    const now = nowMs()
    for (const connection of connections) connection.check(now)
  }, checkMs).unref()
  return {
    port: (server.address() as AddressInfo).port,
    stop: (graceMs = STOP_GRACE_MS) =>
      new Promise(resolve => {
        const cut = setTimeout(() => {
          for (const connection of connections) connection.destroy()
        }, graceMs)
        server.close(() => {
          clearTimeout(cut)
          clearInterval(checking)
          resolve()
        })
        for (const connection of connections) connection.close()
      }),
  }
}
