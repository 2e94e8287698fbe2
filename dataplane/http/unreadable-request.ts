import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorBody, errorBody } from './http-error.ts'
import { formatLastAnswer } from './last-answer.ts'

/** Answers to the faults that the HTTP parser finds, by Node's error code. */
const ANSWERS: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the headers of the request are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request took too long to arrive' },
}
const MALFORMED = { status: 400, message: 'not a well-formed HTTP request' }

/** How long the rest of what their clients send is read over: unread bytes would reset the connection, and take the answer along. */
const REST_MS = 2_000

/** Answers requests that do not get as far as a handler in the server's error shape, and closes their connections (Decisions 7). */
export function answerUnreadableRequests(server: Server, bodyOf: ErrorBody = errorBody): void {
  const answered = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The parser finds the same fault in each further piece.
    if (answered.has(socket) && error.code !== 'ECONNRESET') return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const { status, message } = ANSWERS[error.code ?? ''] ?? MALFORMED
    answered.add(socket)
    // A second answer behind the beginning of another one would be taken for a part of its body.
    const { _httpMessage: begun } = socket as { readonly _httpMessage?: ServerResponse | null }
    if (begun?.headersSent) socket.end()
    else socket.end(formatLastAnswer(status, bodyOf(status, message)))
    const cut = setTimeout(() => socket.destroy(), REST_MS)
    socket.once('close', () => clearTimeout(cut))
  })
}
