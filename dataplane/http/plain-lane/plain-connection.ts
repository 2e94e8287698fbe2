/** One connection of the plain lane: its requests one after the other, and what becomes of it. */
import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { releaseBytes } from '../../memory/release-bytes.ts'
import type { NodeHttp } from '../server.ts'
import type { AnswerWriter, PlainAnswer } from './answer-writer.ts'
import { PlainHeads } from './plain-head.ts'
import type { PlainHandler, PlainReceiver } from './plain-receiver.ts'

export interface PlainConnectionDeps {
  /** The first line of a plain request, with its line end. */
  readonly requestLine: string
  readonly handler: PlainHandler
  readonly answers: AnswerWriter
  readonly nowMs: () => number
  readonly node: NodeHttp
  readonly onError: (error: Error) => void
  readonly onGone: () => void
}

/** A request whose head has been read. */
interface Receiving {
  readonly receiver: PlainReceiver
  readonly bodyStart: number
  /** Where the body ends, counted from the first byte of the head. */
  readonly end: number
  /** Head and body so far. */
  readonly chunks: Buffer[]
  size: number
}

/** `new`: nothing received yet. `idle`: between requests. `unread`: the client has to take the answer before anything goes on. */
export type ConnectionState = 'new' | 'idle' | 'receiving' | 'answering' | 'unread' | 'gone'

/**
 * Serves plain requests on one connection, one after the other. At the first request that is anything else
 * it hands the connection over, with the bytes of that request.
 */
export class PlainConnection {
  readonly #socket: Socket
  readonly #deps: PlainConnectionDeps
  readonly #heads: PlainHeads
  #receiving: Receiving | undefined
  /** Received while a request was being answered. */
  #early: Buffer | undefined
  #clientEnded = false
  #closing = false
  state: ConnectionState = 'new'
  /** When the state began. */
  sinceMs: number

  constructor(socket: Socket, deps: PlainConnectionDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#heads = new PlainHeads(deps.requestLine)
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
    this.#deps.node.fail(this.#socket, code)
  }

  /** Gives the connection to Node's HTTP server. */
  leave(): void {
    const chunks = this.#receiving?.chunks ?? []
    this.#cut()
    this.#leaveWith(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  }

  #leaveWith(bytes: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    this.#enter('gone')
    this.#deps.onGone()
    this.#deps.node.take(socket, bytes)
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

  readonly #onError = (error: Error): void => this.#deps.onError(error)

  readonly #onClose = (): void => {
    this.#cut()
    this.#enter('gone')
    this.#deps.onGone()
  }

  #cut(): void {
    this.#receiving?.receiver.cut()
    this.#receiving = undefined
  }

  #enter(state: ConnectionState): void {
    this.state = state
    this.sinceMs = this.#deps.nowMs()
  }

  #start(bytes: Buffer): void {
    const head = this.#heads.parse(bytes)
    const receiver = head && this.#deps.handler(head)
    if (head === undefined || receiver === undefined) return void this.#leaveWith(bytes)
    this.#enter('receiving')
    const { bodyStart, bodyBytes } = head
    this.#receiving = { receiver, bodyStart, end: bodyStart + bodyBytes, chunks: [], size: 0 }
    this.#add(this.#receiving, bytes)
  }

  #add(receiving: Receiving, chunk: Buffer): void {
    receiving.chunks.push(chunk)
    receiving.size += chunk.length
    // A refusal comes from Node's server, with what is needed for the rest of the body.
    if (!receiving.receiver.grow(chunk.length)) this.leave()
    else if (receiving.size >= receiving.end) this.#finish(receiving)
  }

  #finish({ receiver, bodyStart, end, chunks, size }: Receiving): void {
    const last = chunks.at(-1)!
    if (size > end) {
      this.#early = last.subarray(last.length - (size - end))
      this.#socket.pause()
    }
    this.#receiving = undefined
    this.#enter('answering')
    const body = joinChunks(chunks, bodyStart, end)
    if (chunks.length > 1) for (const chunk of chunks) if (chunk.buffer !== this.#early?.buffer) releaseBytes(chunk)
    receiver.end(body, this.#answer)
  }

  get #stays(): boolean {
    return !this.#closing && !this.#clientEnded
  }

  /** Goes on with the next request once the client has taken the answer. */
  readonly #answer = (answer: PlainAnswer): void => {
    if (this.state === 'gone') return
    const hasRoom = this.#deps.answers.write(this.#socket, answer, this.#stays)
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

/** The bytes from `start` to `end` of chunks that follow each other; a view when there is but one. */
function joinChunks(chunks: readonly Buffer[], start: number, end: number): Buffer {
  if (chunks.length === 1) return chunks[0]!.subarray(start, end)
  const joined = Buffer.allocUnsafeSlow(end - start)
  let at = -start
  for (const chunk of chunks) {
    const from = Math.max(0, -at)
    const to = Math.min(chunk.length, joined.length - at)
    if (to > from) chunk.copy(joined, at + from, from, to)
    at += chunk.length
  }
  return joined
}
