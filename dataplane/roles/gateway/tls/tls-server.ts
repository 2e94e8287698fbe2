/** TLS with HTTP/1, HTTP/2 and gRPC on one port: the client chooses by ALPN. */
import type { Server as HttpServerOfNode, IncomingMessage, ServerResponse } from 'node:http'
import { constants, createSecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2'
import type { Server as NetServer, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { isSameHost, withOneHost } from '../../../http/request-host.ts'
import {
  type ConnectionLane,
  HEADERS_TIMEOUT_MS,
  type HttpServer,
  KEEP_ALIVE_MS,
  type ListenConfig,
  listen,
  putBefore,
} from '../../../http/server.ts'
import { answerUnreadableRequests } from '../../../http/unreadable-request.ts'
import type { GatewayRequest, GatewayResponse } from '../../../upstream/exchange.ts'
import type { Certificate } from './certificate.ts'

/** Requests at a time on one HTTP/2 connection. */
const MAX_CONCURRENT_STREAMS = 256
/** Bytes that a client may send on a stream before they are read. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024
/** The same for all streams of a connection. Node's own 64 KiB would hold up each request of more, once for every 64 KiB and way there and back. */
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024
const MAX_HEADER_BYTES = 16 * 1024
const MAX_HEADER_PAIRS = 128
/** Memory of one HTTP/2 connection, in MB. */
const SESSION_MEMORY_MB = 64
/** A request until it is complete. */
export const REQUEST_TIMEOUT_MS = 120_000
/** A connection on which nothing gets through. */
const NO_PROGRESS_MS = 120_000
const HANDSHAKE_MS = 10_000
/** Finds connections whose other end has vanished. */
const TCP_KEEP_ALIVE_MS = 60_000

const HTTP_1_1 = 'http/1.1'
const HTTP_1_0 = 'http/1.0'
/** By ALPN, the best first. */
const PROTOCOLS = ['h2', HTTP_1_1, HTTP_1_0]

export type GatewayListener = (request: GatewayRequest, response: GatewayResponse, expectsContinue: boolean) => void

export interface TlsServer extends HttpServer {
  /** New connections get it. */
  setCertificate(certificate: Certificate): void
}

/** Node holds requests over HTTP/1.1 to their time, and not those over HTTP/2. */
function endWhenLate(request: Http2ServerRequest): void {
  const { stream } = request
  const late = setTimeout(() => {
    if (!request.complete) stream.close(constants.NGHTTP2_CANCEL)
  }, REQUEST_TIMEOUT_MS).unref()
  stream.once('close', () => clearTimeout(late))
}

/** Without ALPN, too. */
function speaksHttp1({ alpnProtocol }: TLSSocket): boolean {
  return alpnProtocol === HTTP_1_1 || alpnProtocol === false
}

function namesOneHost({ headers: { ':authority': authority, host } }: Http2ServerRequest): boolean {
  return host === undefined || authority === undefined || isSameHost(authority, host)
}

/** `lane` gets the connections over HTTP/1.1 first. */
export async function startTlsServer(
  listener: GatewayListener,
  certificate: Certificate,
  at: ListenConfig,
  lane?: ConnectionLane,
): Promise<TlsServer> {
  const server = createSecureServer({
    ...certificate,
    // Undefined ends the handshake with an alert.
    ALPNCallback: ({ protocols }) => PROTOCOLS.find(name => protocols.includes(name)),
    ...{
      allowHTTP1: true,
      requireHostHeader: false,
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    // An answer in pieces would wait for the client's system to acknowledge the piece before.
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
    ...{ maxSessionMemory: SESSION_MEMORY_MB, maxHeaderListPairs: MAX_HEADER_PAIRS, peerMaxConcurrentStreams: 1 },
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
  })
  const http1 = server as unknown as HttpServerOfNode
  http1.headersTimeout = HEADERS_TIMEOUT_MS
  http1.requestTimeout = REQUEST_TIMEOUT_MS
  http1.keepAliveTimeout = KEEP_ALIVE_MS
  server.setTimeout(NO_PROGRESS_MS)
  answerUnreadableRequests(http1)
  const receive = (expectsContinue: boolean) => {
    const receiveHttp1 = withOneHost((request, response) => listener(request, response, expectsContinue))
    return (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => {
      if (!('stream' in request)) return receiveHttp1(request, response as ServerResponse<IncomingMessage> & { req: IncomingMessage })
      if (!namesOneHost(request)) return request.stream.close(constants.NGHTTP2_PROTOCOL_ERROR)
      if (!request.complete) endWhenLate(request)
      listener(request, response as Http2ServerResponse, expectsContinue)
    }
  }
  server.on('request', receive(false))
  // Node would answer before the key is looked at. An expectation that nobody knows may be passed over (RFC 9110, 10.1.1).
  server.on('checkContinue', receive(true))
  http1.on('checkExpectation', receive(false))
  // Node's server knows the one name of HTTP/1 alone.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === HTTP_1_0) socket.alpnProtocol = HTTP_1_1
  })
  if (lane !== undefined) putBefore(server, 'secureConnection', lane, speaksHttp1)
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
    session.once('close', () => sessions.delete(session))
    // A client that misbehaves or vanishes is its own trouble.
    session.on('error', () => session.destroy())
  })
  const listening = await listen(server as unknown as NetServer, at, {
    close() {
      lane?.close()
      for (const session of sessions) session.close()
      if ('closeIdleConnections' in http1) http1.closeIdleConnections()
    },
    cut() {
      lane?.destroy()
      for (const socket of sockets) socket.destroy()
    },
  })
  return { ...listening, setCertificate: next => server.setSecureContext({ ...next }) }
}
