import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { type ListenConfig, listenError } from '../../../http/server.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { StreamListener } from './otlp-grpc.ts'

export interface GrpcServer {
  readonly port: number
  /** Takes no new calls, lets those under way finish for up to `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/** A client sends a whole batch without waiting for window updates. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024
const MAX_CONCURRENT_STREAMS = 256
/** A request that is not complete by then is cut. */
const RECEIVE_TIMEOUT_MS = 30_000
/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000
const STOP_GRACE_MS = 5_000

/** HTTP/2 in plain text, with windows that hold a batch: @grpc/grpc-js pins each stream to 64 KiB. */
export async function startGrpcServer(listener: StreamListener, listen: ListenConfig, log: Log): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer({
    settings: { initialWindowSize: STREAM_WINDOW_BYTES, maxConcurrentStreams: MAX_CONCURRENT_STREAMS },
  })
  server.on('connection', (socket: Socket) => socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS))
  server.on('session', session => {
    sessions.add(session)
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
    session.once('close', () => sessions.delete(session))
    session.on('error', error => log.debug({ error }, 'gRPC connection failed'))
  })
  server.on('stream', (stream, headers) => {
    cutWhenSlow(stream)
    listener(stream, headers)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(error, listen)))
    server.listen(listen.port, listen.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: (graceMs = STOP_GRACE_MS) =>
      new Promise(resolve => {
        const cut = setTimeout(() => {
          for (const session of sessions) session.destroy()
        }, graceMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        for (const session of sessions) session.close()
      }),
  }
}

function cutWhenSlow(stream: ServerHttp2Stream): void {
  if (stream.endAfterHeaders) return
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), RECEIVE_TIMEOUT_MS)
  stream.once('end', () => clearTimeout(timer))
  stream.once('close', () => clearTimeout(timer))
}
