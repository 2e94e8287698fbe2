import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import type { NodeHttp } from '../server.ts'
import { type Encoding, parseEncoding } from '../../roles/collector/intake/decompress.ts'
import { Client } from '../../roles/collector/intake/expected-clients.ts'
import { giveBack } from '../../roles/collector/intake/give-back.ts'
import { joinChunks } from '../../roles/collector/intake/join-chunks.ts'
import type { MemoryLease } from '../../roles/collector/intake/memory-budget.ts'
import { Refusal } from '../../roles/collector/intake/refusal.ts'
import { type AnswerType, parseContentType } from '../../roles/collector/http/content-type.ts'
import { failedAnswer, TRANSPORTS } from '../../roles/collector/http/failed-answer.ts'
import type { OtlpHttpDeps } from '../../roles/collector/http/otlp-http.ts'
import type { PlainAnswers } from './plain-answer.ts'
import { PlainHeads } from './plain-head.ts'

export interface PlainConnectionDeps extends OtlpHttpDeps {
  readonly answers: PlainAnswers
  readonly nowMs: () => number
}

/** A request whose head has been read. */
interface Receiving {
  readonly type: AnswerType
  readonly encoding: Encoding
  readonly bodyStart: number
  /** Where the body ends, counted from the first byte of the head. */
  readonly end: number
  readonly lease: MemoryLease
  /** Head and body so far. */
  readonly chunks: Buffer[]
  size: number
}

/** `new`: nothing received yet. `idle`: between requests. `unread`: the client has to take the answer before anything goes on. */
export type ConnectionState = 'new' | 'idle' | 'receiving' | 'answering' | 'unread' | 'gone'

/**
 * Serves plain export requests on one connection, one after the other. At the first request that is anything else
 * it hands the connection over, with the bytes of that request.
 */
export class PlainConnection {
  readonly #socket: Socket
  readonly #deps: PlainConnectionDeps
  readonly #node: NodeHttp
  readonly #onGone: () => void
  readonly #client = new Client()
  readonly #heads = new PlainHeads()
  #receiving: Receiving | undefined
  /** Received while a request was being answered. */
  #early: Buffer | undefined
  #clientEnded = false
  #closing = false
  state: ConnectionState = 'new'
  /** When the state began. */
  sinceMs: number

  constructor(socket: Socket, deps: PlainConnectionDeps, node: NodeHttp, onGone: () => void) {
    this.#socket = socket
    this.#deps = deps
    this.#node = node
    this.#onGone = onGone
    this.sinceMs = deps.nowMs()
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** Closes the connection now, or after the answer under way. */
  close(): void {
    this.#closing = true
    if (this.state === 'new' || this.state === 'idle') this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Ends a request that does not come to its end. */
  fail(code: 'ERR_HTTP_REQUEST_TIMEOUT' | 'HPE_INVALID_EOF_STATE'): void {
    this.#node.fail(this.#socket, code)
  }

  /** Gives the connection to Node's HTTP server. */
  leave(): void {
    const { chunks = [], lease } = this.#receiving ?? {}
    lease?.release()
    this.#receiving = undefined
    const socket = this.#socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    this.#enter('gone')
    this.#onGone()
    this.#node.take(socket, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.state === 'answering' || this.state === 'unread') {
      this.#early = this.#early === undefined ? chunk : Buffer.concat([this.#early, chunk])
      this.#socket.pause()
    } else if (this.#receiving === undefined) this.#start(chunk)
    else this.#add(this.#receiving, chunk)
  }

  readonly #onEnd = (): void => {
    this.#clientEnded = true
    if (this.state === 'receiving') this.fail('HPE_INVALID_EOF_STATE')
    else if (this.state !== 'answering' && this.state !== 'unread') this.#socket.end()
  }

  readonly #onError = (error: Error): void => this.#deps.log.debug({ error }, 'HTTP connection failed')

  readonly #onClose = (): void => {
    this.#receiving?.lease.release()
    this.#receiving = undefined
    this.#enter('gone')
    this.#onGone()
  }

  #enter(state: ConnectionState): void {
    this.state = state
    this.sinceMs = this.#deps.nowMs()
  }

  #start(bytes: Buffer): void {
    const { intake } = this.#deps
    const lease = intake.budget.lease()
    const head = intake.isOpen ? this.#heads.parse(bytes) : undefined
    const type = parseContentType(head?.contentType)
    const encoding = plainEncoding(head?.contentEncoding)
    this.#enter('receiving')
    if (head === undefined || type === undefined || encoding === undefined || head.bodyBytes > intake.maxRequestBytes) {
      this.#receiving = { type: 'application/json', encoding: 'identity', bodyStart: 0, end: 0, lease, chunks: [bytes], size: 0 }
      this.leave()
      return
    }
    const { bodyStart, bodyBytes } = head
    this.#receiving = { type, encoding, bodyStart, end: bodyStart + bodyBytes, lease, chunks: [], size: 0 }
    this.#add(this.#receiving, bytes)
  }

  #add(receiving: Receiving, chunk: Buffer): void {
    receiving.chunks.push(chunk)
    receiving.size += chunk.length
    try {
      receiving.lease.grow(chunk.length)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.leave() // the refusal comes from there, with what is needed for the rest of the body
      return
    }
    if (receiving.size >= receiving.end) this.#finish(receiving)
  }

  #finish(receiving: Receiving): void {
    const { type, encoding, bodyStart, end, lease, chunks, size } = receiving
    const last = chunks.at(-1)!
    if (size > end) {
      this.#early = last.subarray(last.length - (size - end))
      this.#socket.pause()
    }
    this.#receiving = undefined
    this.#enter('answering')
    const body = joinChunks(chunks, bodyStart, end)
    if (chunks.length > 1) for (const chunk of chunks) if (chunk.buffer !== this.#early?.buffer) giveBack(chunk)
    const { intake, answers } = this.#deps
    intake.accept({ transport: TRANSPORTS[type], body, encoding, lease, client: this.#client }).then(
      partialSuccess => this.#answered(() => answers.writeAccepted(this.#socket, type, partialSuccess, this.#stays)),
      (error: unknown) => {
        const answer = failedAnswer(this.#deps, type, error)
        this.#answered(() => answers.write(this.#socket, answer, this.#stays))
      },
    )
  }

  get #stays(): boolean {
    return !this.#closing && !this.#clientEnded
  }

  /** Goes on with the next request once the client has taken the answer. */
  #answered(write: () => boolean): void {
    if (this.state === 'gone') return
    const hasRoom = write()
    if (this.#stays && hasRoom) return void this.#next()
    this.#enter('unread')
    if (!this.#stays) this.#socket.end()
    else {
      this.#socket.pause()
      this.#socket.once('drain', () => this.#next())
    }
  }

  #next(): void {
    if (this.state === 'gone') return
    this.#enter('idle')
    const early = this.#early
    this.#early = undefined
    if (this.#socket.isPaused()) this.#socket.resume()
    if (early !== undefined) this.#start(early)
  }
}

function plainEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return 'identity'
  try {
    return parseEncoding(header)
  } catch {
    return undefined // Node's HTTP server says why
  }
}
