/** One request over HTTP/2, and the interface of its handler. */
import type { Buffer } from 'node:buffer'
import type { Answer, Part } from './answer.ts'
import type { HeaderField } from './hpack-static-table.ts'
import type { RequestHead } from './request-head.ts'

/** Takes the body of a request. */
export interface RequestReceiver {
  /** The bytes are valid during the call only. */
  data(bytes: Buffer): void
  /** The request is whole. */
  end(): void
  /** The client has given up, or is gone: an answer reaches nobody. */
  cut(): void
  /** For a request that has less time than the server gives to all, and an answer of its own then. */
  readonly patience?: { readonly ms: number; late(): void }
}

/** An answer whose body comes in pieces. */
export interface AnswerBody {
  /** False: the client is behind, and `onRoom` says when it takes more; the bytes have to stay as they are until then. */
  write(bytes: Uint8Array): boolean
  end(trailers?: readonly HeaderField[]): void
  /** Breaks off what was begun. */
  breakOff(): void
}

/** The way back. */
export interface Exchange {
  /** Has to be called once for each request, even one that was cut: until then it counts as under way. */
  answer(answer: Answer): void
  /** In place of an answer: the request is reset. */
  abandon(): void
  /** As `answer`, for an answer of any length; the head goes with the first bytes. */
  begin(head: readonly HeaderField[], onRoom: () => void): AnswerBody
  /** No more of the request will come. */
  readonly isWhole: boolean
  /** A head of status 1xx, before the answer. */
  inform(head: readonly HeaderField[]): void
  /** The client may send no more of the request than its window allows, until `resume`. */
  hold(): void
  resume(): void
}

/** Is asked for each request, and answers through the exchange then or later. */
export type RequestHandler = (head: RequestHead, exchange: Exchange) => RequestReceiver

/** Takes what comes after the answer. */
export const NO_RECEIVER: RequestReceiver = { data: () => undefined, end: () => undefined, cut: () => undefined }

/** The connection, as a stream sees it. */
export interface StreamOwner {
  answered(stream: Stream, answer: Answer): void
  begun(stream: Stream, head: readonly HeaderField[], onRoom: () => void): AnswerBody
  abandoned(stream: Stream): void
  inform(stream: Stream, head: readonly HeaderField[]): void
  resumed(stream: Stream): void
}

/** The rest of an answer, which is to be sent. */
export interface Unsent {
  readonly pieces: Uint8Array[]
  /** How far the first piece was sent. */
  position: number
  /** No more pieces will come. */
  isWhole: boolean
  trailers: Part | undefined
  /** Since when the client has to take it. */
  sinceMs: number
  /** Its time begins anew with each piece that is taken. */
  readonly isOfAnyLength: boolean
  /** The writer waits for room. */
  onRoom: (() => void) | undefined
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
  isHeld = false
  /** Received while held, and not given back to the window of the connection. */
  heldBytes = 0
  /** The rest of the answer that flow control holds up. */
  unsent: Unsent | undefined

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
  begin(head: readonly HeaderField[], onRoom: () => void): AnswerBody {
    if (this.isAnswered) return NO_BODY
    this.isAnswered = true
    return this.#owner.begun(this, head, onRoom)
  }

  abandon(): void {
    if (this.isAnswered) return
    this.isAnswered = true
    this.#owner.abandoned(this)
  }

  inform(head: readonly HeaderField[]): void {
    if (!this.isAnswered && !this.isCut) this.#owner.inform(this, head)
  }

  hold(): void {
    this.isHeld = true
  }

  resume(): void {
    if (!this.isHeld) return
    this.isHeld = false
    this.#owner.resumed(this)
  }
}

/** The body of an answer that reaches nobody. */
export const NO_BODY: AnswerBody = { write: () => true, end: () => undefined, breakOff: () => undefined }
