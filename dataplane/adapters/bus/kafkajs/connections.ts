import { isIP, connect as openTcp, type Socket } from 'node:net'
import { connect as openTls } from 'node:tls'
import type { ISocketFactory } from 'kafkajs'

/** Brokers close a connection that was idle for ten minutes; what lies between may be quicker. */
const KEEP_ALIVE_MS = 60_000

export interface Connections {
  readonly open: ISocketFactory
  /** None once it is closed: the library takes that for final, and a connection that fails for something to try again. */
  readonly brokers: () => string[]
  /** The problem of the last connection that failed; the library keeps it to itself while it tries again. */
  readonly lastProblem: () => string | undefined
  /** Closes all at once, and opens no more. */
  close(): void
}

/**
 * All connections of one client. `kafkajs` forgets some: two requests that find a connection closed open it twice. It opens others after it was told to
 * disconnect, for requests that it still repeats.
 */
export function createConnections(brokers: readonly string[]): Connections {
  const sockets = new Set<Socket>()
  let isClosed = false
  let lastProblem: string | undefined
  return {
    open({ host, port, ssl, onConnect }) {
      if (isClosed) throw new Error('the client is closed')
      const target = { host, port }
      const socket = ssl
        ? openTls({ ...target, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
        : openTcp(target, onConnect)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', error => {
        if (!isClosed) lastProblem = error.message
      })
      return socket
    },
    lastProblem: () => lastProblem,
    brokers: () => (isClosed ? [] : [...brokers]),
    close() {
      isClosed = true
      // The error is what the library hears of it: it ends the requests under way, and their timers.
      for (const socket of sockets) socket.destroy(new Error('the client is closed'))
    },
  }
}
