/** Servers and connections of HTTP/2: accepted, looked after, stopped. */
import { createServer, type Socket } from 'node:net'
import type { Log } from '../../telemetry/log.ts'
import { type Connections, type ListenConfig, type Listening, listen } from '../server.ts'
import { Http2Connection } from './connection.ts'
import type { RequestHandler } from './stream.ts'

export interface Http2ServerDeps {
  /** Makes the handler of a connection. */
  readonly createHandler: (socket: Socket) => RequestHandler
  /** Goes on evenly when the time of day is set, such as `performance.now`. */
  readonly monotonicMs: () => number
  readonly log: Log
  /** How often what takes too long is looked for. */
  readonly checkMs?: number
  /** As those of a connection. */
  readonly windowBytes?: number
  readonly streamTimeoutMs?: number
  readonly http1Answer?: (firstBytes: Buffer) => Buffer
}

/** Connections over which HTTP/2 is spoken, wherever they come from. */
export interface Http2Connections extends Connections {
  accept(socket: Socket): void
  /** Looks for what takes too long no more. */
  stop(): void
}

/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000
const CHECK_MS = 5_000

export function createHttp2Connections(deps: Http2ServerDeps): Http2Connections {
  const { createHandler, monotonicMs, log, checkMs = CHECK_MS, ...bounds } = deps
  const connections = new Set<Http2Connection>()
  const onFault = (error: Error) => log.debug({ error }, 'HTTP/2 connection failed')
  const checking = setInterval(() => {
    const now = monotonicMs()
    for (const connection of connections) connection.check(now)
  }, checkMs).unref()
  return {
    accept(socket) {
      const connection = new Http2Connection(socket, { ...bounds, handler: createHandler(socket), monotonicMs, onFault })
      connections.add(connection)
      socket.on('error', onFault)
      socket.on('close', () => connections.delete(connection))
    },
    close() {
      for (const connection of connections) connection.close()
    },
    cut() {
      for (const connection of connections) connection.destroy()
    },
    stop: () => clearInterval(checking),
  }
}

/** HTTP/2 in plain text. */
export async function startHttp2Server(deps: Http2ServerDeps, at: ListenConfig): Promise<Listening> {
  const connections = createHttp2Connections(deps)
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS }
  const server = createServer(options, socket => connections.accept(socket))
  server.once('close', () => connections.stop())
  try {
    return await listen(server, at, connections)
  } catch (error) {
    connections.stop()
    throw error
  }
}
