/** TLS with HTTP/1, HTTP/2 and gRPC on one port: the client chooses by ALPN. */
import type { Server as HttpServerOfNode } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Server as NetServer, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { closerWhenIdle } from '../../../http/close-when-idle.ts'
import { receiveAsMessages } from '../../../http/http2/messages.ts'
import type { RequestHead } from '../../../http/http2/request-head.ts'
import { createHttp2Connections, type Http2Connections } from '../../../http/http2/server.ts'
import type { Exchange, RequestReceiver } from '../../../http/http2/stream.ts'
import { withOneHost } from '../../../http/request-host.ts'
import {
  type ConnectionLane,
  HEADERS_TIMEOUT_MS,
  type HttpServer,
  KEEP_ALIVE_MS,
  type ListenConfig,
  listen,
  putBefore,
  TIMEOUT_CHECK_MS,
} from '../../../http/server.ts'
import { takeListeners } from '../../../http/take-listeners.ts'
import { answerUnreadableRequests } from '../../../http/unreadable-request.ts'
import { withWholeAnswers } from '../../../http/whole-answer.ts'
import { type Log, SILENT } from '../../../telemetry/log.ts'
import type { GatewayRequest, GatewayResponse } from '../../../upstream/exchange.ts'
import type { Certificate } from './certificate.ts'
import { answerPlainRequests } from './plain-requests.ts'

/** Bytes of all requests of an HTTP/2 connection that a client may send before they are read. Its streams have windows of the same size. */
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024
const MAX_HEADER_BYTES = 16 * 1024
/** A request until it is complete. */
export const REQUEST_TIMEOUT_MS = 120_000
/** A connection on which nothing gets through. */
const NO_PROGRESS_MS = 120_000
const HANDSHAKE_MS = 10_000
/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000

const HTTP_1_1 = 'http/1.1'
const HTTP_1_0 = 'http/1.0'
const HTTP_2 = 'h2'
/** By ALPN, the best first. */
const PROTOCOLS = [HTTP_2, HTTP_1_1, HTTP_1_0]

export type GatewayListener = (request: GatewayRequest, response: GatewayResponse, expectsContinue: boolean) => void

export interface TlsServer extends HttpServer {
  /** New connections get it. */
  setCertificate(certificate: Certificate): void
}

/** Without ALPN, too. */
function speaksHttp1({ alpnProtocol }: TLSSocket): boolean {
  return alpnProtocol === HTTP_1_1 || alpnProtocol === false
}

/** Before those who serve HTTP/1. */
function serveHttp2(server: Server, http2: Http2Connections): void {
  const serveHttp1 = takeListeners<TLSSocket>(server, 'secureConnection')
  server.on('secureConnection', socket => {
    if (socket.alpnProtocol !== HTTP_2) serveHttp1(socket)
    else {
      socket.setTimeout(NO_PROGRESS_MS, () => socket.destroy())
      http2.accept(socket)
    }
  })
}

/** Takes a request over HTTP/2 frame by frame; undefined leaves it to the listener. */
export type CallHandler = (head: RequestHead, exchange: Exchange, socket: Socket) => RequestReceiver | undefined

export interface TlsServerOptions {
  /** Gets the connections over HTTP/1.1 first. */
  readonly lane?: ConnectionLane | undefined
  /** Gets the requests over HTTP/2 first. */
  readonly calls?: CallHandler | undefined
  /** Goes on evenly when the time of day is set. */
  readonly monotonicMs?: () => number
  readonly log?: Log
}

export async function startTlsServer(
  listener: GatewayListener,
  certificate: Certificate,
  at: ListenConfig,
  { lane, calls, monotonicMs = () => performance.now(), log = SILENT }: TlsServerOptions = {},
): Promise<TlsServer> {
  const server = createServer({
    ...certificate,
    // Undefined ends the handshake with an alert.
    ALPNCallback: ({ protocols }) => PROTOCOLS.find(name => protocols.includes(name)),
    ...{ requireHostHeader: false, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS, maxHeaderSize: MAX_HEADER_BYTES },
    // An answer in pieces would wait for the client's system to acknowledge the piece before.
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
    ...{ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  })
  server.timeout = NO_PROGRESS_MS
  answerUnreadableRequests(server as HttpServerOfNode, at.errorBody)
  answerPlainRequests(server, at.errorBody)
  const receive = (expectsContinue: boolean) =>
    withOneHost(
      withWholeAnswers((request, response) => listener(request, response, expectsContinue)),
      at.errorBody,
    )
  server.on('request', receive(false))
  // Node would answer before the key is looked at. An expectation that nobody knows may be passed over (RFC 9110, 10.1.1).
  server.on('checkContinue', receive(true))
  server.on('checkExpectation', receive(false))
  if (lane !== undefined) putBefore(server, 'secureConnection', lane, speaksHttp1)
  const http2 = createHttp2Connections({
    createHandler: socket => (head, exchange) => calls?.(head, exchange, socket) ?? receiveAsMessages(head, exchange, socket, listener),
    ...{ monotonicMs, log, windowBytes: CONNECTION_WINDOW_BYTES, streamTimeoutMs: REQUEST_TIMEOUT_MS },
  })
  serveHttp2(server, http2)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.once('close', () => http2.stop())
  const idle = closerWhenIdle(server)
  const listening = await listen(server as NetServer, at, {
    announce() {
      lane?.announce()
      idle.announce()
    },
    close() {
      lane?.close()
      http2.close()
      idle.close()
    },
    cut() {
      lane?.destroy()
      for (const socket of sockets) socket.destroy()
    },
  })
  return { ...listening, setCertificate: next => server.setSecureContext({ ...next }) }
}
