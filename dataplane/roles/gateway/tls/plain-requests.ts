/** Requests in plain text on a port of TLS: their clients would learn no more than that the connection closed. */
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type ErrorBody, errorBody } from '../../../http/http-error.ts'
import { formatLastAnswer } from '../../../http/last-answer.ts'

const MESSAGE = 'this port speaks TLS: expected https://, seen a request in plain text'

export function answerPlainRequests(server: Server, bodyOf: ErrorBody = errorBody): void {
  const answer = formatLastAnswer(400, bodyOf(400, MESSAGE))
  const open = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket)
    open.set(client, socket)
    socket.once('close', () => open.delete(client))
  })
  // Node has given up the TLS of the connection by then, and closes it after what is written.
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (error.code === 'ERR_SSL_HTTP_REQUEST') open.get(clientOf(socket))?.write(answer)
  })
}

const clientOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
