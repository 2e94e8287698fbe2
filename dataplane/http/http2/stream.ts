/** One request over HTTP/2, and the interface of its handler. */
import type { Buffer } from 'node:buffer'
import type { Answer } from './answer.ts'
import type { RequestHead } from './request-head.ts'

/** Takes the body of a request. */
export interface RequestReceiver {
  /** The bytes are valid during the call only. */
  data(bytes: Buffer): void
  /** The request is whole. */
  end(): void
  /** The client has given up, or is gone: an answer reaches nobody. */
  cut(): void
}

/** The way back. */
export interface Exchange {
  /** Has to be called once for each request, even one that was cut: until then it counts as under way. */
  answer(answer: Answer): void
}

/** Is asked for each request, and answers through the exchange then or later. */
export type RequestHandler = (head: RequestHead, exchange: Exchange) => RequestReceiver

/** Takes what comes after the answer. */
export const NO_RECEIVER: RequestReceiver = { data: () => undefined, end: () => undefined, cut: () => undefined }

/** The connection, as a stream sees it. */
export interface StreamOwner {
  answered(stream: Stream, answer: Answer): void
}

/** One request and its answer. */
export class Stream implements Exchange {
  readonly id: number
  readonly sinceMs: number
  readonly contentLength: number | undefined
  readonly #owner: StreamOwner
  receiver: RequestReceiver = NO_RECEIVER
  receivedBytes = 0
  /** Bytes that the client may still send. */
  receiveWindow: number
  /** Bytes that the client still takes. */
  sendWindow: number
  isWhole = false
  isAnswered = false
  isCut = false
  /** Answered or cut: what else comes is passed over. */
  isOver = false
  /** The rest of the answer that flow control holds up. */
  unsent: { readonly answer: Answer; position: number } | undefined

  constructor(id: number, owner: StreamOwner, { contentLength }: RequestHead, windows: { receive: number; send: number }, nowMs: number) {
    this.id = id
    this.#owner = owner
    this.contentLength = contentLength
    this.receiveWindow = windows.receive
    this.sendWindow = windows.send
    this.sinceMs = nowMs
  }

  /** Whether as much came as the header said. */
  get hasPromisedLength(): boolean {
    return this.contentLength === undefined || this.contentLength === this.receivedBytes
  }

  answer(answer: Answer): void {
    if (this.isAnswered) return
    this.isAnswered = true
    this.#owner.answered(this, answer)
  }
}
