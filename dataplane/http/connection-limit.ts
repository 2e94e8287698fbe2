/** How many connections one server holds, so that those of one sender leave room to all others, and files to the process. */
import { readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { countRefusedConnection } from '../telemetry/refused-connections.ts'
import { takeListeners } from './take-listeners.ts'

/** Beyond so many, memory is short before files are. */
const MAX_CONNECTIONS = 10_000
/** Share of the files that a process may have open. A standalone has a dozen servers, of which senders reach four as a rule. */
const SHARE_OF_FILES = 0.125
/** Share of those that one address may hold. Behind a proxy or a node's own address many senders have one. */
const SHARE_OF_ADDRESS = 0.75

/**
 * Closes connections beyond `most`, and those of an address beyond its share, as soon as they are there. To be called when all listeners to connections
 * are there: they learn of none that is closed.
 */
export function limitConnections(server: Server, most = mostOfProcess()): void {
  const mostOfAddress = Math.ceil(most * SHARE_OF_ADDRESS)
  const open = new Map<string, number>()
  const serve = takeListeners(server, 'connection')
  server.maxConnections = most
  server.on('drop', countRefusedConnection)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const before = open.get(address) ?? 0
    if (before >= mostOfAddress) {
      countRefusedConnection()
      socket.destroy()
      return
    }
    open.set(address, before + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
    serve(socket)
  })
}

/** The same for each server of the process, whose limits are those of its start. */
let usual: number | undefined

function mostOfProcess(): number {
  usual ??= mostConnections(readLimits())
  return usual
}

/** `limits`: `/proc/self/limits`; undefined where a system has no such file. */
export function mostConnections(limits: string | undefined): number {
  const files = Number(/^Max open files +(\d+)/m.exec(limits ?? '')?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(1, Math.min(MAX_CONNECTIONS, Math.floor(files * SHARE_OF_FILES)))
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not Linux.
    return undefined
  }
}
