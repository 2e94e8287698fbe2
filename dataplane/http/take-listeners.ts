import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/** Takes the listeners of an event away from a server; the function that comes back hands a connection to them. */
export function takeListeners<S extends Socket>(server: EventEmitter, event: 'connection' | 'secureConnection'): (socket: S) => void {
  const listeners = server.listeners(event) as ((socket: S) => void)[]
  server.removeAllListeners(event)
  return socket => {
    for (const listener of listeners) listener.call(server, socket)
  }
}
