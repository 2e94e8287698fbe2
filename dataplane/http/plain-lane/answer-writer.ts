import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import { KEEP_ALIVE_MS } from '../server.ts'

/** May be sent any number of times; the same object each time is written faster. */
export interface PlainAnswer {
  readonly status: number
  /** With the content length. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const STAYS = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1000)}\r\n\r\n`
const CLOSES = 'Connection: close\r\n\r\n'

/** An answer as it was sent last: all of a second are the same, as a rule. */
interface Written {
  readonly second: number
  readonly stays: boolean
  readonly text: string
}

/** Writes answers to plain requests. */
export class AnswerWriter {
  readonly #nowMs: () => number
  readonly #written = new WeakMap<PlainAnswer, Written>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Returns false when the client is behind with reading. `stays` says whether the connection will. */
  write(socket: Socket, answer: PlainAnswer, stays: boolean): boolean {
    const second = Math.floor(this.#nowMs() / 1000)
    let last = this.#written.get(answer)
    if (last?.second !== second || last.stays !== stays) {
      last = { second, stays, text: textOf(answer, second, stays) }
      this.#written.set(answer, last)
    }
    return socket.write(last.text, 'latin1')
  }
}

/** With the headers that Node's HTTP server would add; one character stands for one byte. */
function textOf({ status, headers, body }: PlainAnswer, second: number, stays: boolean): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const date = `Date: ${new Date(1000 * second).toUTCString()}\r\n`
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}${date}${stays ? STAYS : CLOSES}`
  return Buffer.concat([Buffer.from(head, 'latin1'), body]).toString('latin1')
}
