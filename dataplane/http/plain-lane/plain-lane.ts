/** Serves plain requests to one path straight from the socket; all others go to Node's HTTP server. */
import type { Socket } from 'node:net'
import { type ConnectionLane, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../server.ts'
import { AnswerWriter } from './answer-writer.ts'
import { type ConnectionState, PlainConnection } from './plain-connection.ts'
import type { PlainHandler } from './plain-receiver.ts'

export interface PlainLaneConfig {
  /** Path of the requests that are served here, such as `/v1/logs`. */
  readonly path: string
  /** Makes the handler of a connection. */
  readonly createHandler: () => PlainHandler
  readonly nowMs: () => number
  readonly onError: (error: Error) => void
}

const CHECK_MS = 5_000
/** A client that has not taken its answers by then is cut; meanwhile none of its requests is worked on. */
const UNREAD_MS = 30_000

/** The end of a connection that stays in a state for so long. */
const LIMITS: Partial<Record<ConnectionState, { readonly ms: number; readonly act: (connection: PlainConnection) => void }>> = {
  new: { ms: HEADERS_TIMEOUT_MS / 2, act: connection => connection.leave() },
  idle: { ms: KEEP_ALIVE_MS, act: connection => connection.destroy() },
  unread: { ms: UNREAD_MS, act: connection => connection.destroy() },
  receiving: { ms: REQUEST_TIMEOUT_MS, act: connection => connection.fail('ERR_HTTP_REQUEST_TIMEOUT') },
}

export function createPlainLane({ path, createHandler, nowMs, onError }: PlainLaneConfig): ConnectionLane {
  const connections = new Set<PlainConnection>()
  const lane = { requestLine: `POST ${path} HTTP/1.1\r\n`, answers: new AnswerWriter(nowMs), nowMs, onError }
  const check = () => {
    const now = nowMs()
    for (const connection of connections) {
      const limit = LIMITS[connection.state]
      if (limit !== undefined && now - connection.sinceMs >= limit.ms) limit.act(connection)
    }
  }
  const timer = setInterval(check, CHECK_MS).unref()
  const stop = (act: (connection: PlainConnection) => void) => {
    clearInterval(timer)
    for (const connection of connections) act(connection)
  }
  return {
    accept(socket: Socket, node) {
      const onGone = () => connections.delete(connection)
      const connection = new PlainConnection(socket, { ...lane, handler: createHandler(), node, onGone })
      connections.add(connection)
    },
    close: () => stop(connection => connection.close()),
    destroy: () => stop(connection => connection.destroy()),
  }
}
