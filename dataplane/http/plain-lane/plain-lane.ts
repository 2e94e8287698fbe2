/** Serves plain requests to a few paths straight from the socket; all others go to Node's HTTP server. */
import type { Socket } from 'node:net'
import { type ConnectionLane, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../server.ts'
import { AnswerWriter } from './answer-writer.ts'
import { type ConnectionState, PlainConnection } from './plain-connection.ts'
import type { PlainHandler } from './plain-receiver.ts'

export interface PlainLaneConfig {
  /** Paths of the requests that are served here, such as `/v1/logs`. */
  readonly paths: readonly string[]
  /** A header that handlers ask for, in lower case. */
  readonly wantedHeader?: string
  /** Makes the handler of a connection. */
  readonly createHandler: (socket: Socket) => PlainHandler
  /** How long a request may take until it is complete. Default 30 s. */
  readonly requestTimeoutMs?: number
  /** The time of day, for the header `Date`. */
  readonly nowMs: () => number
  /** Goes on evenly when the time of day is set. Absent: as `nowMs`. */
  readonly monotonicMs?: () => number
  readonly onError: (error: Error) => void
}

const CHECK_MS = 5_000
/** A client that has not taken its answers by then is cut; meanwhile none of its requests is worked on. */
const UNREAD_MS = 30_000
/** How long a client may go on sending that was answered before its request was whole, so that it gets to read the answer. */
const REFUSED_MS = 2_000

type Limits = Partial<Record<ConnectionState, { readonly ms: number; readonly act: (connection: PlainConnection) => void }>>

export function createPlainLane(config: PlainLaneConfig): ConnectionLane {
  const { paths, wantedHeader, createHandler, requestTimeoutMs = REQUEST_TIMEOUT_MS, nowMs, monotonicMs = nowMs, onError } = config
  /** The end of a connection that stays in a state for so long. */
  const limits: Limits = {
    new: { ms: HEADERS_TIMEOUT_MS / 2, act: connection => connection.leave() },
    idle: { ms: KEEP_ALIVE_MS, act: connection => connection.destroy() },
    unread: { ms: UNREAD_MS, act: connection => connection.destroy() },
    refused: { ms: REFUSED_MS, act: connection => connection.destroy() },
    receiving: { ms: requestTimeoutMs, act: connection => connection.fail('ERR_HTTP_REQUEST_TIMEOUT') },
  }
  const connections = new Set<PlainConnection>()
  const form = { requestLines: paths.map(path => `POST ${path} HTTP/1.1\r\n`), wantedHeader }
  const lane = { form, answers: new AnswerWriter(nowMs), monotonicMs, onError }
  const check = () => {
    const now = monotonicMs()
    for (const connection of connections) {
      const limit = limits[connection.state]
      if (limit !== undefined && now - connection.sinceMs >= limit.ms) limit.act(connection)
    }
  }
  let isAnnounced = false
  const timer = setInterval(check, CHECK_MS).unref()
  const stop = (act: (connection: PlainConnection) => void) => {
    clearInterval(timer)
    for (const connection of connections) act(connection)
  }
  return {
    accept(socket: Socket, node) {
      const onGone = () => connections.delete(connection)
      const connection = new PlainConnection(socket, { ...lane, handler: createHandler(socket), node, onGone })
      connections.add(connection)
      if (isAnnounced) connection.announce()
    },
    announce() {
      isAnnounced = true
      for (const connection of connections) connection.announce()
    },
    close: () => stop(connection => connection.close()),
    destroy: () => stop(connection => connection.destroy()),
  }
}
