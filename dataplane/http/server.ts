/** An HTTP server that is bounded in time and stops cleanly. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerUnreadableRequests } from './unreadable-request.ts'

export interface ListenConfig {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The setting that the port comes from, for the message when it is taken. */
  readonly setting: string
}

export interface HttpServer {
  readonly port: number
  /** Takes no new connections, lets requests under way finish for up to `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 65_000
const STOP_GRACE_MS = 5_000

export async function startHttpServer(listener: RequestListener, { host, port, setting }: ListenConfig): Promise<HttpServer> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    listener,
  )
  answerUnreadableRequests(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(error, { host, port, setting })))
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: (graceMs = STOP_GRACE_MS) =>
      new Promise(resolve => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Names the setting to change. */
export function listenError(error: NodeJS.ErrnoException, { host, port, setting }: ListenConfig): Error {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there',
    EACCES: 'the system does not permit it',
    EADDRNOTAVAIL: 'this machine has no such address (HOST)',
    ENOTFOUND: 'the name HOST cannot be resolved',
  }
  return new Error(`${setting}: cannot listen on ${host}:${port}: ${why[error.code ?? ''] ?? error.message}`, { cause: error })
}
