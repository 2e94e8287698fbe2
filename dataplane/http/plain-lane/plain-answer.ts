import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { KEEP_ALIVE_MS } from '../server.ts'
import type { PartialSuccess } from '../../otlp/export-response.ts'
import type { AnswerType } from '../../roles/collector/http/content-type.ts'
import { buildAccepted, type HttpAnswer } from '../../roles/collector/http/http-answer.ts'

const STAYS = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1000)}\r\n\r\n`
const CLOSES = 'Connection: close\r\n\r\n'

/** The last answer of a type: all of a second are the same, as a rule. */
interface LastAccepted {
  readonly partialSuccess: PartialSuccess
  readonly second: number
  readonly stays: boolean
  readonly text: string
}

/** Writes answers to plain requests. */
export class PlainAnswers {
  readonly #nowMs: () => number
  readonly #lastAccepted = new Map<AnswerType, LastAccepted>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Returns false when the client is behind with reading. `stays` says whether the connection will. */
  writeAccepted(socket: Socket, type: AnswerType, partialSuccess: PartialSuccess, stays: boolean): boolean {
    const second = Math.floor(this.#nowMs() / 1000)
    let last = this.#lastAccepted.get(type)
    if (last?.partialSuccess !== partialSuccess || last.second !== second || last.stays !== stays) {
      last = { partialSuccess, second, stays, text: textOf(buildAccepted(type, partialSuccess), second, stays) }
      this.#lastAccepted.set(type, last)
    }
    return socket.write(last.text, 'latin1')
  }

  /** As `writeAccepted`. */
  write(socket: Socket, answer: HttpAnswer, stays: boolean): boolean {
    return socket.write(textOf(answer, Math.floor(this.#nowMs() / 1000), stays), 'latin1')
  }
}

/** With the headers that Node's HTTP server would add; one character stands for one byte. */
function textOf({ status, headers, body }: HttpAnswer, second: number, stays: boolean): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const date = `Date: ${new Date(1000 * second).toUTCString()}\r\n`
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}${date}${stays ? STAYS : CLOSES}`
  return Buffer.concat([Buffer.from(head, 'latin1'), body]).toString('latin1')
}
