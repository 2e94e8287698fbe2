import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { KEEP_ALIVE_MS } from '../../../http/server.ts'
import type { PartialSuccess } from '../../../otlp/export-response.ts'
import type { AnswerType } from './content-type.ts'
import { buildAccepted, type HttpAnswer } from './http-answer.ts'

const STAYS = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1000)}\r\n\r\n`
const CLOSES = 'Connection: close\r\n\r\n'

/** An answer in two pieces, between which the headers belong that Node's HTTP server would add; one character stands for one byte. */
interface AnswerText {
  readonly head: string
  readonly body: string
}

/** Writes answers to plain requests. */
export class PlainAnswers {
  readonly #nowMs: () => number
  readonly #lastAccepted = new Map<AnswerType, { readonly partialSuccess: PartialSuccess; readonly text: AnswerText }>()
  #second = Number.NaN
  #date = ''

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Returns false when the client is behind with reading. `stays` says whether the connection will. */
  writeAccepted(socket: Socket, type: AnswerType, partialSuccess: PartialSuccess, stays: boolean): boolean {
    let last = this.#lastAccepted.get(type)
    if (last?.partialSuccess !== partialSuccess) {
      last = { partialSuccess, text: textOf(buildAccepted(type, partialSuccess)) }
      this.#lastAccepted.set(type, last)
    }
    return this.#write(socket, last.text, stays)
  }

  /** As `writeAccepted`. */
  write(socket: Socket, answer: HttpAnswer, stays: boolean): boolean {
    return this.#write(socket, textOf(answer), stays)
  }

  #write(socket: Socket, { head, body }: AnswerText, stays: boolean): boolean {
    return socket.write(head + this.#dateHeader() + (stays ? STAYS : CLOSES) + body, 'latin1')
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

function textOf({ status, headers, body }: HttpAnswer): AnswerText {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return { head: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`, body: Buffer.from(body).toString('latin1') }
}
