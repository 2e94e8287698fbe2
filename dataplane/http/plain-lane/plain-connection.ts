/** One connection of the plain lane: its requests one after the other, and what becomes of it. */
import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { releaseBytes } from '../../memory/release-bytes.ts'
import type { NodeHttp } from '../server.ts'
import type { AnswerWriter, PlainAnswer } from './answer-writer.ts'
import { PlainBody } from './plain-body.ts'
import { type PlainForm, type PlainHead, PlainHeads } from './plain-head.ts'
import type { PlainHandler, PlainReceiver } from './plain-receiver.ts'

export interface PlainConnectionDeps {
  readonly form: PlainForm
  readonly handler: PlainHandler
  readonly answers: AnswerWriter
  /** Goes on evenly when the time of day is set. */
  readonly monotonicMs: () => number
  readonly node: NodeHttp
  readonly onError: (error: Error) => void
  readonly onGone: () => void
}

/** A request whose head has been read. */
interface Receiving {
  readonly receiver: PlainReceiver
  readonly body: PlainBody
}

/**
 * `new`: nothing received yet. `idle`: between requests. `asking`: the handler does not know yet whether it wants the request.
 * `unread`: the client has to take the answer before anything goes on. `refused`: answered before the request was whole; the rest is thrown away,
 * since bytes unread would reset the connection, and the answer with it.
 */
export type ConnectionState = 'new' | 'idle' | 'asking' | 'receiving' | 'answering' | 'unread' | 'refused' | 'gone'

const NO_BYTES = Buffer.alloc(0)

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
    this.#heads = new PlainHeads(deps.form)
    this.sinceMs = deps.monotonicMs()
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** The next answer is the last one, and says so. */
  announce(): void {
    this.#closing = true
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
    this.#leaveWith(NO_BYTES)
  }

  /** The same with what has come of a request, and the chunk behind that. */
  #giveUp({ body }: Receiving, chunk: Buffer): void {
    this.#cut()
    this.#leaveWith(body.handOver(chunk))
  }

  #leaveWith(bytes: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    this.#enter('gone')
    this.#deps.onGone()
    this.#deps.node.take(socket, bytes)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.state === 'asking' || this.state === 'answering' || this.state === 'unread') {
      this.#early = this.#early === undefined ? chunk : Buffer.concat([this.#early, chunk])
      this.#socket.pause()
    } else if (this.state === 'refused') releaseBytes(chunk)
    else if (this.#receiving === undefined) this.#start(chunk)
    else this.#add(this.#receiving, chunk)
  }

  readonly #onEnd = (): void => {
    this.#clientEnded = true
    if (this.state === 'receiving') this.fail('HPE_INVALID_EOF_STATE')
    else if (this.state === 'new' || this.state === 'idle') this.#socket.end()
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
    this.sinceMs = this.#deps.monotonicMs()
  }

  #start(bytes: Buffer): void {
    const head = this.#heads.parse(bytes)
    const receiver = head && this.#deps.handler(head, this.#refuse)
    if (head === undefined || receiver === undefined) this.#leaveWith(bytes)
    else if (receiver instanceof Promise) this.#ask(head, receiver, bytes)
    else this.#receive(head, receiver, bytes)
  }

  /** Waits for the handler. */
  #ask(head: PlainHead, receiver: Promise<PlainReceiver | undefined>, bytes: Buffer): void {
    this.#enter('asking')
    this.#socket.pause()
    receiver.then(
      found => this.#asked(head, found, bytes),
      () => this.#asked(head, undefined, bytes),
    )
  }

  #asked(head: PlainHead, receiver: PlainReceiver | undefined, bytes: Buffer): void {
    if (this.state === 'gone') return void receiver?.cut()
    const early = this.#early
    this.#early = undefined
    const received = early === undefined ? bytes : Buffer.concat([bytes, early])
    // Node's server takes no connection whose client has ended its side.
    if (receiver === undefined && this.#clientEnded) return void this.#socket.destroy()
    this.#socket.resume()
    if (receiver === undefined) this.#leaveWith(received)
    else this.#receive(head, receiver, received)
  }

  #receive(head: PlainHead, receiver: PlainReceiver, bytes: Buffer): void {
    this.#enter('receiving')
    this.#receiving = { receiver, body: new PlainBody(head) }
    this.#add(this.#receiving, bytes)
    if (this.#clientEnded && this.#receiving !== undefined) this.fail('HPE_INVALID_EOF_STATE')
  }

  #add(receiving: Receiving, chunk: Buffer): void {
    const { receiver, body } = receiving
    // A refusal comes from Node's server, with what is needed for the rest of the body.
    if (!receiver.grow(chunk.length)) return void this.#giveUp(receiving, chunk)
    const next = body.add(chunk)
    if (body.isWhole) this.#finish(receiver, body, next)
  }

  /** `next`: what the client has sent behind the body. */
  #finish(receiver: PlainReceiver, body: PlainBody, next: Buffer | undefined): void {
    if (next !== undefined) {
      this.#early = next
      this.#socket.pause()
    }
    this.#receiving = undefined
    this.#enter('answering')
    receiver.end(body.take(), this.#answer)
  }

  get #stays(): boolean {
    return !this.#closing && !this.#clientEnded
  }

  readonly #refuse = (answer: PlainAnswer): void => {
    if (this.#receiving === undefined) return
    this.#receiving.body.drop()
    this.#receiving = undefined
    this.#enter('refused')
    this.#deps.answers.write(this.#socket, answer, false)
    this.#socket.end()
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
