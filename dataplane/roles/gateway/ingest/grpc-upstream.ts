/** Connections to the collector's gRPC that are kept, and opened again when they end. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'

/** Calls go to them by turns: each takes as many at a time as the collector allows. */
const CONNECTIONS = 4
const CONNECT_MS = 5_000
/** Silence after which a connection is looked at, and how long its answer may take. */
const PING_MS = 30_000
const MAX_ANSWER_BYTES = 1024 * 1024

export interface GrpcUpstream {
  /** A call whose headers are sent; `isAnew`: on a connection that is opened for it. Rejects when there is no connection. */
  open(headers: OutgoingHttpHeaders, isAnew?: boolean): Promise<ClientHttp2Stream>
  close(): void
}

export function createGrpcUpstream(endpoint: string): GrpcUpstream {
  const sessions: (Promise<ClientHttp2Session> | undefined)[] = Array.from({ length: CONNECTIONS }, () => undefined)
  let next = 0
  const start = (slot: number): Promise<ClientHttp2Session> => {
    const opening = new Promise<ClientHttp2Session>((resolve, reject) => {
      const session = connect(endpoint, { settings: { enablePush: false, initialWindowSize: MAX_ANSWER_BYTES } })
      const late = setTimeout(() => session.destroy(new Error(`no connection within ${CONNECT_MS} ms`)), CONNECT_MS)
      session.once('connect', () => {
        clearTimeout(late)
        resolve(session)
      })
      const gone = (error?: Error) => {
        clearTimeout(late)
        if (sessions[slot] === opening) sessions[slot] = undefined
        reject(error ?? new Error('the connection was closed'))
      }
      session.on('error', gone)
      session.once('close', gone)
      session.once('goaway', () => gone())
      session.setTimeout(PING_MS, () => {
        if (!session.destroyed && !session.ping(() => undefined)) session.destroy()
      })
    })
    sessions[slot] = opening
    // The caller hears of it.
    opening.catch(() => undefined)
    return opening
  }
  return {
    async open(headers, isAnew = false) {
      const slot = next++ % CONNECTIONS
      if (isAnew) closeAfterCalls(sessions[slot])
      const session = await ((isAnew ? undefined : sessions[slot]) ?? start(slot))
      if (!session.destroyed && !session.closed) return session.request(headers)
      return (await start(slot)).request(headers)
    },
    close: () => sessions.forEach(closeAfterCalls),
  }
}

function closeAfterCalls(session: Promise<ClientHttp2Session> | undefined): void {
  session?.then(
    open => open.close(),
    () => undefined,
  )
}
