import { type ConnectionLane, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../server.ts'
import type { OtlpHttpDeps } from '../../roles/collector/http/otlp-http.ts'
import { PlainAnswers } from './plain-answer.ts'
import { type ConnectionState, PlainConnection } from './plain-connection.ts'

export interface PlainLaneDeps extends OtlpHttpDeps {
  readonly nowMs: () => number
}

const CHECK_MS = 5_000
/** A client that has not taken its answers by then is cut; meanwhile none of its requests is worked on. */
const UNREAD_MS = 30_000

/** What happens to a connection that stays in a state for so long. */
const LIMITS: Partial<Record<ConnectionState, { readonly ms: number; readonly act: (connection: PlainConnection) => void }>> = {
  new: { ms: HEADERS_TIMEOUT_MS / 2, act: connection => connection.leave() },
  idle: { ms: KEEP_ALIVE_MS, act: connection => connection.destroy() },
  unread: { ms: UNREAD_MS, act: connection => connection.destroy() },
  receiving: { ms: REQUEST_TIMEOUT_MS, act: connection => connection.fail('ERR_HTTP_REQUEST_TIMEOUT') },
}

/**
 * Serves plain export requests without Node's HTTP server, whose work for each is twice that of accepting a log record (measured).
 * Any other request, and what follows it on its connection, goes to that server.
 */
export function createPlainLane(deps: PlainLaneDeps): ConnectionLane {
  const connections = new Set<PlainConnection>()
  const connectionDeps = { ...deps, answers: new PlainAnswers(deps.nowMs) }
  const check = () => {
    const now = deps.nowMs()
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
    accept(socket, node) {
      const connection = new PlainConnection(socket, connectionDeps, node, () => connections.delete(connection))
      connections.add(connection)
    },
    close: () => stop(connection => connection.close()),
    destroy: () => stop(connection => connection.destroy()),
  }
}
