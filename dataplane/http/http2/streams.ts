/** The streams of one HTTP/2 connection: their states, windows and time limits. */
import { Buffer } from 'node:buffer'
import { type Answer, headersPart, type Part } from './answer.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { HeaderBlock } from './header-blocks.ts'
import { EMPTY_TABLE } from './hpack-encoder.ts'
import type { HeaderField } from './hpack-static-table.ts'
import { LateRequests } from './late-requests.ts'
import type { PeerSettings } from './peer-settings.ts'
import {
  ConnectionFault,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ERROR_CODE,
  type ErrorCode,
  FLAG,
  FRAME,
  MAX_WINDOW_BYTES,
  StreamFault,
} from './protocol.ts'
import { checkTrailers, RequestHead } from './request-head.ts'
import { type AnswerBody, NO_BODY, type RequestHandler, Stream, type StreamOwner, type Unsent } from './stream.ts'

export interface StreamsDeps {
  readonly writer: FrameWriter
  readonly peer: PeerSettings
  readonly handler: RequestHandler
  /** Goes on evenly when the time of day is set, such as `performance.now`. */
  readonly monotonicMs: () => number
  /** How long a request may take until it is complete, and an answer until it is taken. */
  readonly timeoutMs: number
  /** Called when bytes of data are held no more. */
  readonly onTaken: (bytes: number) => void
  /** No stream is open any more. */
  readonly onIdle: () => void
}

/** A client sends a whole batch without waiting for window updates. */
export const STREAM_WINDOW_BYTES = 4 * 1024 * 1024
export const MAX_CONCURRENT_STREAMS = 256
/** A request that is not complete by then, or an answer not taken, is cut. */
export const STREAM_TIMEOUT_MS = 30_000
/** A connection ends when its client has given up so many requests more than were answered. */
const MAX_GIVEN_UP = 1000

/** The requests of a connection and their answers. Its methods throw a `ConnectionFault`. */
export class Streams implements StreamOwner {
  readonly #deps: StreamsDeps
  readonly #open = new Map<number, Stream>()
  /** Streams with an answer of which something may wait to be sent. */
  readonly #sending = new Set<Stream>()
  readonly #late: LateRequests
  /** Requests that were cut, and are still worked on. */
  #orphans = 0
  #givenUp = 0
  #lastId = 0
  #isClosed = false
  /** Bytes that the client still takes on all streams together. */
  #sendWindow = DEFAULT_WINDOW_BYTES
  #receiving: Stream | undefined
  #receivingId = 0

  constructor(deps: StreamsDeps) {
    this.#deps = deps
    this.#late = new LateRequests(deps.writer, () => this.#checkIdle())
  }

  /** No request is under way, and none is read on after its answer. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#late.size === 0
  }

  /** Those given up among them that are still worked on. */
  get #underWay(): number {
    return this.#open.size + this.#late.size + this.#orphans
  }

  /** Id of the newest stream that was taken. */
  get lastId(): number {
    return this.#lastId
  }

  /** Passes over new streams from now on. */
  close(): void {
    this.#isClosed = true
  }

  header({ streamId, endsStream, fields }: HeaderBlock): void {
    const stream = this.#open.get(streamId)
    if (stream !== undefined) this.#trailers(stream, endsStream, fields ?? [])
    else if (streamId % 2 === 0) throw protocolFault(`stream ${streamId} opened by a client`)
    else if (streamId > this.#lastId) this.#take(streamId, endsStream, fields)
    else if (!this.#late.expects(streamId)) throw new ConnectionFault(ERROR_CODE.streamClosed, 'a header on a closed stream')
    else this.#late.end(streamId)
  }

  /** `size` is what counts for flow control. */
  dataBegins(streamId: number, size: number): void {
    const stream = this.#find(streamId)
    this.#receiving = stream
    this.#receivingId = streamId
    if (stream?.isHeld) stream.heldBytes += size
    else this.#deps.onTaken(size)
    if (stream === undefined) {
      if (streamId <= this.#lastId && !this.#late.expects(streamId))
        throw new ConnectionFault(ERROR_CODE.streamClosed, 'data on a closed stream')
      return void this.#late.dataBegins(streamId, size)
    }
    stream.receiveWindow -= size
    if (stream.isWhole) this.#broken(stream, ERROR_CODE.streamClosed)
    else if (stream.receiveWindow < 0) this.#broken(stream, ERROR_CODE.flowControl)
  }

  data(bytes: Buffer): void {
    const stream = this.#receiving
    if (stream === undefined) return void this.#late.data(this.#receivingId, bytes.length)
    if (stream.isOver) return
    stream.receivedBytes += bytes.length
    stream.receiver.data(bytes)
  }

  dataEnds(endsStream: boolean): void {
    const stream = this.#receiving
    this.#receiving = undefined
    if (stream === undefined) return void this.#late.dataEnds(this.#receivingId, endsStream)
    if (stream.isOver) return
    if (endsStream) this.#whole(stream)
    else this.#widen(stream)
  }

  /** Lets the client send more. */
  #widen(stream: Stream): void {
    if (stream.isHeld || stream.receiveWindow > STREAM_WINDOW_BYTES / 2) return
    this.#deps.writer.windowUpdate(stream.id, STREAM_WINDOW_BYTES - stream.receiveWindow)
    stream.receiveWindow = STREAM_WINDOW_BYTES
  }

  resumed(stream: Stream): void {
    this.#giveBack(stream)
    if (!stream.isWhole && !stream.isOver) this.#widen(stream)
  }

  #giveBack(stream: Stream): void {
    const { heldBytes } = stream
    stream.heldBytes = 0
    if (heldBytes > 0) this.#deps.onTaken(heldBytes)
  }

  resetByClient(streamId: number): void {
    const stream = this.#find(streamId)
    if (stream === undefined) return void this.#late.cut(streamId)
    this.#cut(stream)
    this.#countGivenUp()
  }

  /** A client that has its requests reset gives them up as one does that resets them. */
  #broken(stream: Stream, code: ErrorCode): void {
    this.reset(stream, code)
    this.#countGivenUp()
  }

  #countGivenUp(): void {
    if (++this.#givenUp > MAX_GIVEN_UP) throw new ConnectionFault(ERROR_CODE.enhanceYourCalm, 'too many requests given up')
  }

  /** The client takes so many bytes more, on one stream or (0) altogether. */
  windowUpdate(streamId: number, increment: number): void {
    if (streamId === 0) {
      this.#sendWindow += increment
      if (increment === 0) throw protocolFault('a window update by nothing')
      if (this.#sendWindow > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR_CODE.flowControl, 'a window that large')
      this.sendAll()
      return
    }
    const stream = this.#find(streamId)
    if (stream === undefined) return
    stream.sendWindow += increment
    if (increment === 0) this.#broken(stream, ERROR_CODE.protocol)
    else if (stream.sendWindow > MAX_WINDOW_BYTES) this.#broken(stream, ERROR_CODE.flowControl)
    else this.#send(stream)
  }

  /** The client has changed the window that streams begin with. */
  changeWindows(bytes: number): void {
    if (bytes === 0) return
    for (const stream of this.#open.values()) {
      stream.sendWindow += bytes
      if (stream.sendWindow > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR_CODE.flowControl, 'a window that large')
    }
    this.sendAll()
  }

  reset(stream: Stream, code: ErrorCode): void {
    this.#late.reset(stream.id, code)
    this.#cut(stream)
  }

  /** A frame of a stream is not as it has to be. */
  resetById(streamId: number, code: ErrorCode): void {
    const stream = this.#open.get(streamId)
    if (stream === undefined) this.#late.reset(streamId, code)
    else this.#broken(stream, code)
  }

  /** Cuts streams that take too long. */
  check(nowMs: number): void {
    const { timeoutMs } = this.#deps
    for (const stream of this.#open.values()) {
      const { isWhole, isAnswered, sinceMs, unsent, receiver } = stream
      const isUntaken = unsent !== undefined && unsent.pieces.length > 0 && nowMs - unsent.sinceMs >= timeoutMs
      if (isUntaken || (!isWhole && nowMs - sinceMs >= timeoutMs)) this.reset(stream, ERROR_CODE.cancel)
      else if (!isWhole && !isAnswered && receiver.patience !== undefined && nowMs - sinceMs >= receiver.patience.ms)
        receiver.patience.late()
    }
    this.#late.check(nowMs)
  }

  cutAll(): void {
    for (const stream of this.#open.values()) this.#cut(stream)
  }

  answered(stream: Stream, answer: Answer): void {
    if (stream.isCut) {
      this.#orphans--
      return
    }
    const { writer, peer } = this.#deps
    if (this.#givenUp > 0) this.#givenUp--
    const size = answer.body.length
    if (!peer.isTableToBeEmptied && size <= this.#sendWindow && size <= stream.sendWindow) {
      this.#sendWindow -= size
      writer.frames(answer.frames, answer.idPlaces, stream.id)
      this.#finish(stream)
      return
    }
    this.#writeHead(stream, answer.head)
    const pieces = size > 0 ? [answer.body] : []
    const { sinceMs } = stream
    stream.unsent = { ...NOTHING_SENT, pieces, isWhole: true, trailers: answer.trailers, sinceMs, isOfAnyLength: false }
    this.#sending.add(stream)
    this.#send(stream)
  }

  begun(stream: Stream, head: readonly HeaderField[], onRoom: () => void): AnswerBody {
    if (stream.isCut) {
      this.#orphans--
      return NO_BODY
    }
    if (this.#givenUp > 0) this.#givenUp--
    const unsent: Unsent = { ...NOTHING_SENT, pieces: [], isWhole: false, trailers: undefined, sinceMs: 0, isOfAnyLength: true }
    stream.unsent = unsent
    this.#sending.add(stream)
    let isBegun = false
    return {
      write: bytes => {
        if (stream.isOver || unsent.isWhole || bytes.length === 0) return true
        if (!isBegun) this.#writeHead(stream, headersPart(head, false))
        isBegun = true
        unsent.pieces.push(bytes)
        unsent.sinceMs = this.#deps.monotonicMs()
        this.#send(stream)
        if (unsent.pieces.length === 0) return true
        unsent.onRoom = onRoom
        return false
      },
      end: trailers => {
        if (stream.isOver || unsent.isWhole) return
        const isHeadAlone = !isBegun && trailers === undefined
        if (!isBegun) this.#writeHead(stream, headersPart(head, isHeadAlone))
        unsent.isWhole = true
        unsent.trailers = trailers && headersPart(trailers, true)
        if (isHeadAlone) this.#sent(stream)
        else this.#send(stream)
      },
      breakOff: () => {
        if (!stream.isOver) this.reset(stream, ERROR_CODE.cancel)
      },
    }
  }

  abandoned(stream: Stream): void {
    if (stream.isCut) this.#orphans--
    else this.reset(stream, ERROR_CODE.cancel)
  }

  inform(stream: Stream, head: readonly HeaderField[]): void {
    this.#writeHead(stream, headersPart(head, false))
  }

  #writeHead(stream: Stream, { flags, payload }: Part): void {
    const { writer, peer } = this.#deps
    writer.headers(flags, stream.id, peer.isTableToBeEmptied ? Buffer.concat([EMPTY_TABLE, payload]) : payload)
    peer.isTableToBeEmptied = false
  }

  #take(streamId: number, endsStream: boolean, fields: readonly HeaderField[] | undefined): void {
    if (this.#isClosed) return
    this.#lastId = streamId
    if (fields === undefined) this.#late.reset(streamId, ERROR_CODE.enhanceYourCalm)
    else if (this.#underWay >= MAX_CONCURRENT_STREAMS) this.#late.reset(streamId, ERROR_CODE.refusedStream)
    else {
      const head = wellFormed(() => new RequestHead(fields))
      if (head === undefined) this.#late.reset(streamId, ERROR_CODE.protocol)
      else this.#begin(streamId, endsStream, head)
    }
  }

  #begin(streamId: number, endsStream: boolean, head: RequestHead): void {
    const { handler, peer, monotonicMs } = this.#deps
    const windows = { receive: STREAM_WINDOW_BYTES, send: peer.initialWindowBytes }
    const stream = new Stream(streamId, this, head, windows, monotonicMs())
    this.#open.set(streamId, stream)
    stream.isWhole = endsStream
    stream.receiver = handler(head, stream)
    if (endsStream && !stream.isOver) this.#whole(stream)
  }

  #trailers(stream: Stream, endsStream: boolean, fields: readonly HeaderField[]): void {
    if (stream.isWhole) this.#broken(stream, ERROR_CODE.streamClosed)
    else if (!endsStream || wellFormed(() => checkTrailers(fields)) === undefined) this.#broken(stream, ERROR_CODE.protocol)
    else this.#whole(stream)
  }

  #whole(stream: Stream): void {
    if (stream.hasPromisedLength) {
      stream.isWhole = true
      stream.receiver.end()
    } else this.#broken(stream, ERROR_CODE.protocol)
  }

  /** Undefined for a stream that is closed. */
  #find(streamId: number): Stream | undefined {
    const stream = this.#open.get(streamId)
    if (stream === undefined && (streamId === 0 || streamId % 2 === 0 || (streamId > this.#lastId && !this.#isClosed)))
      throw protocolFault(`a frame of stream ${streamId}, which is not open`)
    return stream
  }

  /** As much of all answers as is taken now. */
  sendAll(): void {
    for (const stream of this.#sending) this.#send(stream)
  }

  /** Sends as much of an answer's body as the client takes, and the trailers behind the whole body. */
  #send(stream: Stream): void {
    const { unsent } = stream
    if (unsent === undefined) return
    const { writer, monotonicMs } = this.#deps
    const { pieces, trailers } = unsent
    while (pieces.length > 0) {
      const piece = pieces[0]!
      const room = Math.min(this.#sendWindow, stream.sendWindow, DEFAULT_MAX_FRAME_BYTES)
      if (room <= 0 || !writer.hasRoom) return
      const end = Math.min(piece.length, unsent.position + room)
      const isLast = unsent.isWhole && pieces.length === 1 && end === piece.length && trailers === undefined
      writer.frame(FRAME.data, isLast ? FLAG.endStream : 0, stream.id, piece.subarray(unsent.position, end))
      this.#sendWindow -= end - unsent.position
      stream.sendWindow -= end - unsent.position
      unsent.position = end === piece.length ? 0 : end
      if (unsent.position === 0) pieces.shift()
      if (unsent.isOfAnyLength) unsent.sinceMs = monotonicMs()
      if (isLast) return void this.#sent(stream)
    }
    if (!unsent.isWhole) {
      const { onRoom } = unsent
      unsent.onRoom = undefined
      return void onRoom?.()
    }
    if (trailers === undefined) writer.frame(FRAME.data, FLAG.endStream, stream.id, NO_BYTES)
    else writer.headers(trailers.flags, stream.id, trailers.payload)
    this.#sent(stream)
  }

  #sent(stream: Stream): void {
    stream.unsent = undefined
    this.#finish(stream)
  }

  /** A request that is not whole is read on for a while. */
  #finish(stream: Stream): void {
    if (!stream.isWhole) this.#late.add(stream, this.#deps.monotonicMs())
    this.#remove(stream)
  }

  #cut(stream: Stream): void {
    if (!stream.isAnswered) this.#orphans++
    stream.isCut = true
    this.#remove(stream)
    stream.receiver.cut()
  }

  #remove(stream: Stream): void {
    stream.isOver = true
    this.#open.delete(stream.id)
    this.#sending.delete(stream)
    this.#giveBack(stream)
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (this.isIdle) this.#deps.onIdle()
  }
}

const NO_BYTES = new Uint8Array()
const NOTHING_SENT = { position: 0, onRoom: undefined } as const

/** Undefined for what is malformed. */
function wellFormed<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof StreamFault) return undefined
    throw error
  }
}

const protocolFault = (what: string) => new ConnectionFault(ERROR_CODE.protocol, what)
