/**
 * Interim answers that nobody asked for. A `100 Continue` may come before any answer (RFC 9110, 15.2); undici takes it for a fault of the server and drops
 * the connection, while it reads every other interim answer over. Here each 100 becomes a 102 before undici sees it.
 */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

const STATUS_AT = 'HTTP/1.1 '.length
const HEAD_END = Buffer.from('\r\n\r\n')
const INTERIM = /^HTTP\/1\.1 1\d\d[ \r]/
const MAYBE_INTERIM = /^(?:H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.1|HTTP\/1\.1 |HTTP\/1\.1 1\d{0,2})$/
/** Bytes by which `INTERIM` knows a status line. */
const NEEDED_BYTES = STATUS_AT + 4

/** Connects as `connect` does. Each client sends one request after the other. */
export function withInterimAnswers(connect: buildConnector.connector): buildConnector.connector {
  return (to, done) =>
    connect(to, (...[error, socket]) => {
      if (!socket) done(error as Error, null)
      else done(null, allowInterimAnswers(socket))
    })
}

function allowInterimAnswers<T extends Pick<Socket, 'read' | 'write'>>(socket: T): T {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean
  /** Whether the next byte begins an answer. */
  let isAtStart = true
  /** The beginning of a status line whose rest has not come. */
  let held: Buffer | undefined
  /** Inside the head of an interim answer, whose end has not come: its last bytes. */
  let tail: Buffer | undefined

  const pass = (bytes: Buffer): Buffer | null => {
    let at = 0
    if (tail !== undefined) {
      const seen = Buffer.concat([tail, bytes])
      const end = seen.indexOf(HEAD_END)
      if (end === -1) {
        tail = seen.subarray(-(HEAD_END.length - 1))
        return bytes
      }
      at = end + HEAD_END.length - tail.length
      tail = undefined
    }
    while (isAtStart && at < bytes.length) {
      const start = bytes.subarray(at, at + NEEDED_BYTES).toString('latin1')
      if (MAYBE_INTERIM.test(start)) {
        held = bytes.subarray(at)
        return at === 0 ? null : bytes.subarray(0, at)
      }
      if (!INTERIM.test(start)) {
        isAtStart = false
        break
      }
      if (start.startsWith('100', STATUS_AT)) bytes.write('102', at + STATUS_AT, 'latin1')
      const end = bytes.indexOf(HEAD_END, at)
      if (end === -1) {
        tail = bytes.subarray(Math.max(at, bytes.length - (HEAD_END.length - 1)))
        break
      }
      at = end + HEAD_END.length
    }
    return bytes
  }

  socket.read = (size?: number) => {
    for (;;) {
      const bytes: unknown = read(size)
      if (!Buffer.isBuffer(bytes)) return bytes
      const whole = held === undefined ? bytes : Buffer.concat([held, bytes])
      held = undefined
      const passed = pass(whole)
      if (passed !== null) return passed
    }
  }
  socket.write = (...sent: unknown[]) => {
    if (!isAtStart) {
      isAtStart = true
      held = undefined
      tail = undefined
    }
    return write(...sent)
  }
  return socket
}
