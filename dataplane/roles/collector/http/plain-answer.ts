import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { KEEP_ALIVE_MS } from '../../../http/server.ts'
import type { PartialSuccess } from '../../../otlp/export-response.ts'
import type { AnswerType } from './content-type.ts'
import { buildAccepted, type HttpAnswer } from './http-answer.ts'

const STAYS = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1000)}\r\n\r\n`
const CLOSES = 'Connection: close\r\n\r\n'

/** Writes answers with the headers that Node's HTTP server would add. */
export class PlainAnswers {
  readonly #nowMs: () => number
  readonly #accepted = new Map<
    AnswerType,
    { readonly partialSuccess: PartialSuccess; readonly answer: HttpAnswer; readonly head: string }
  >()
  #second = Number.NaN
  #date = ''

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Like `write`; the answer that everything was accepted is built once. */
  writeAccepted(socket: Socket, type: AnswerType, partialSuccess: PartialSuccess, stays: boolean): boolean {
    let last = this.#accepted.get(type)
    if (last === undefined || last.partialSuccess !== partialSuccess) {
      const answer = buildAccepted(type, partialSuccess)
      last = { partialSuccess, answer, head: headOf(answer) }
      this.#accepted.set(type, last)
    }
    return this.#write(socket, last.head, last.answer.body, stays)
  }

  /** Returns false when the client is behind with reading. */
  write(socket: Socket, answer: HttpAnswer, stays: boolean): boolean {
    return this.#write(socket, headOf(answer), answer.body, stays)
  }

  #write(socket: Socket, head: string, body: Uint8Array, stays: boolean): boolean {
    const start = head + this.#dateHeader() + (stays ? STAYS : CLOSES)
    if (body.length === 0) return socket.write(start, 'latin1')
    socket.cork()
    socket.write(start, 'latin1')
    const hasRoom = socket.write(body)
    socket.uncork()
    return hasRoom
  }

  #dateHeader(): string {
    const now = this.#nowMs()
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#date = `Date: ${new Date(now).toUTCString()}\r\n`
    }
    return this.#date
  }
}

function headOf({ status, headers }: HttpAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`
}
