/** An HTTP server that is bounded in time, and how any server listens and stops. */
import type { EventEmitter } from 'node:events'
import type { RequestListener } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { graceLeftMs } from '../limits/drain-time.ts'
import { bracketed } from '../text/bracketed.ts'
import { closerWhenIdle } from './close-when-idle.ts'
import { limitConnections } from './connection-limit.ts'
import { continueWhenRead } from './expect-continue.ts'
import type { ErrorBody } from './http-error.ts'
import { createServer } from './node-http.ts'
import { withOneHost } from './request-host.ts'
import { takeListeners } from './take-listeners.ts'
import { answerUnreadableRequests } from './unreadable-request.ts'
import { withWholeAnswers } from './whole-answer.ts'

export interface ListenConfig {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The setting that the port comes from, for the message when it is taken. */
  readonly setting: string
  /** The setting, or the option, that the host comes from. Default `HOST`. */
  readonly hostSetting?: string
  /** How long a request may take until it is complete. Default 30 s. */
  readonly requestTimeoutMs?: number
  /** Body of the error that a request gets which does not reach the listener. */
  readonly errorBody?: ErrorBody
}

/** A server that listens. */
export interface HttpServer {
  /** The address that the host stands for. */
  readonly host: string
  readonly port: number
  /** Takes no new connections, closes idle ones after `LAST_CALL_MS`, lets requests under way finish for up to `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

export interface Listening extends HttpServer {
  /** From now on answers say that their connection closes with them: for who refuses requests before the server stops. */
  announceStop(): void
}

/** The part of Node's HTTP server that a lane may use. */
export interface NodeHttp {
  /** Serves the connection from here on, beginning with bytes that were already read from it. */
  take(socket: Socket, bytes: Buffer): void
  /** Answers a request that never became one, by Node's error code, and closes its connection. */
  fail(socket: Socket, code: string): void
}

/** Gets every new connection before Node's HTTP server does. */
export interface ConnectionLane {
  accept(socket: Socket, node: NodeHttp): void
  /** From now on its answers say that their connection closes with them. */
  announce(): void
  /** Closes its connections, those under way after their answer. */
  close(): void
  /** Cuts its connections. */
  destroy(): void
}

export const REQUEST_TIMEOUT_MS = 30_000
export const HEADERS_TIMEOUT_MS = 10_000
export const KEEP_ALIVE_MS = 65_000
/** How often requests that take too long are looked for; Node does so every 30 s by default. */
export const TIMEOUT_CHECK_MS = 5_000
/** A connection on which neither side gets anything through, such as that of a client that does not read its answer. */
const NO_PROGRESS_MS = 120_000
const STOP_GRACE_MS = 5_000
/** Time in which a server that stops still takes requests on its connections: a request that arrives as its connection closes is lost without an answer. */
const LAST_CALL_MS = 50
/** Rounds of the event loop for what waits to be accepted and read, and those without a new connection that end them. */
const MAX_ROUNDS = 100
const QUIET_ROUNDS = 3

export function startHttpServer(listener: RequestListener, at: ListenConfig, lane?: ConnectionLane): Promise<Listening> {
  const serve = withOneHost(withWholeAnswers(listener), at.errorBody)
  const { requestTimeoutMs: requestTimeout = REQUEST_TIMEOUT_MS } = at
  const server = createServer(
    {
      ...{ requestTimeout, headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout), keepAliveTimeout: KEEP_ALIVE_MS },
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
      requireHostHeader: false,
    },
    serve,
  )
  // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1). Node would answer 417 without a body.
  server.on('checkExpectation', serve)
  continueWhenRead(server, serve)
  server.timeout = NO_PROGRESS_MS
  answerUnreadableRequests(server, at.errorBody)
  if (lane !== undefined) putBefore(server, 'connection', lane)
  const idle = closerWhenIdle(server)
  return listen(server, at, {
    announce() {
      lane?.announce()
      idle.announce()
    },
    close() {
      lane?.close()
      idle.close()
    },
    cut() {
      lane?.destroy()
      server.closeAllConnections()
    },
  })
}

/** The connections of a server, for its stop. */
export interface Connections {
  /** From now on answers say that their connection closes with them; absent where clients learn of the close another way. */
  announce?(): void
  /** Ends them, those under way after their answer. */
  close(): void
  cut(): void
}

/** Rejects with the setting to change when the port cannot be had. */
export async function listen(server: NetServer, at: ListenConfig, connections: Connections): Promise<Listening> {
  limitConnections(server)
  await bind(server, at)
    .catch((error: NodeJS.ErrnoException) => {
      const isWithoutIpv6 = at.host === EVERY_ADDRESS && WITHOUT_IPV6.has(error.code ?? '')
      return isWithoutIpv6 ? bind(server, { ...at, host: EVERY_IPV4_ADDRESS }) : Promise.reject(error)
    })
    .catch(error => Promise.reject(listenError(error, at)))
  const { address, port } = server.address() as AddressInfo
  return {
    host: address,
    port,
    announceStop: () => connections.announce?.(),
    async stop(graceMs = STOP_GRACE_MS) {
      const cut = setTimeout(() => connections.cut(), graceLeftMs(graceMs))
      const isLastCall = connections.announce !== undefined && graceMs > LAST_CALL_MS
      connections.announce?.()
      // Connections that wait for their turn would be reset: those are accepted first.
      if (isLastCall) await readAll(server)
      // The close of an HTTP server would also close what is idle.
      const closed = new Promise(resolve => NetServer.prototype.close.call(server, resolve))
      if (isLastCall) await lastCall(server)
      server.close()
      connections.close()
      await closed
      clearTimeout(cut)
    },
  }
}

/** Over once what has come within `LAST_CALL_MS` was read; at once where nobody is there to call. */
async function lastCall(server: NetServer): Promise<void> {
  const count = await new Promise<number>(resolve => server.getConnections((_error, found) => resolve(found ?? 0)))
  if (count === 0) return
  await new Promise(resolve => setTimeout(resolve, LAST_CALL_MS))
  await readAll(server)
}

/** Over once what has come is read, however late the thread is: a round of the event loop accepts one connection, which the next round reads. */
async function readAll(server: NetServer): Promise<void> {
  let quietRounds = 0
  const accepted = () => {
    quietRounds = 0
  }
  server.on('connection', accepted)
  for (let round = 0; round < MAX_ROUNDS && quietRounds < QUIET_ROUNDS; round++) {
    quietRounds++
    await new Promise(setImmediate)
  }
  server.off('connection', accepted)
}

/** Every address of the machine, of IPv6 and IPv4. */
const EVERY_ADDRESS = '::'
const EVERY_IPV4_ADDRESS = '0.0.0.0'
/** Errors of a machine whose kernel speaks IPv4 alone. */
const WITHOUT_IPV6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

function bind(server: NetServer, { port, host }: ListenConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

/** Gives the connections of an event to the lane, and those of other protocols to the server as before. */
export function putBefore<S extends Socket>(
  server: EventEmitter,
  event: 'connection' | 'secureConnection',
  lane: ConnectionLane,
  isForLane: (socket: S) => boolean = () => true,
): void {
  const serve = takeListeners(server, event)
  const node: NodeHttp = {
    take(socket, bytes) {
      serve(socket)
      if (bytes.length > 0) socket.unshift(bytes)
    },
    fail: (socket, code) => server.emit('clientError', Object.assign(new Error(code), { code }), socket),
  }
  server.on(event, (socket: S) => {
    if (isForLane(socket)) lane.accept(socket, node)
    else serve(socket)
  })
}

function listenError(error: NodeJS.ErrnoException, { host, port, setting, hostSetting = 'HOST' }: ListenConfig): Error {
  const unknownName = `no address is known for this name (${hostSetting})`
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there',
    EACCES: 'the system does not permit it',
    EADDRNOTAVAIL: `this machine has no such address (${hostSetting})`,
    ENOTFOUND: unknownName,
    EAI_AGAIN: unknownName,
  }
  return new Error(`${setting}: cannot listen on ${bracketed(host)}:${port}: ${why[error.code ?? ''] ?? error.message}`)
}
