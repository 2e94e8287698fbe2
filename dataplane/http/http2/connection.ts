/** One HTTP/2 connection, from preface to close. */
import type { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { releaseBytes } from '../../memory/release-bytes.ts'
import { FrameReader, type FrameSink } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { HeaderBlocks, MAX_HEADER_LIST_BYTES } from './header-blocks.ts'
import { PeerSettings } from './peer-settings.ts'
import { ConnectionFault, DEFAULT_WINDOW_BYTES, ERROR_CODE, FLAG, FRAME, MAX_WINDOW_BYTES, SETTING } from './protocol.ts'
import type { RequestHandler } from './stream.ts'
import { MAX_CONCURRENT_STREAMS, STREAM_TIMEOUT_MS, STREAM_WINDOW_BYTES, Streams } from './streams.ts'

export interface ConnectionDeps {
  readonly handler: RequestHandler
  /** Goes on evenly when the time of day is set, such as `performance.now`. */
  readonly monotonicMs: () => number
  /** Bytes of all requests that the client may send before they are taken. Default 16 MiB. */
  readonly windowBytes?: number | undefined
  /** How long a request may take until it is complete, and an answer until it is taken. Default 30 s. */
  readonly streamTimeoutMs?: number | undefined
  /** Makes the whole answer for a client that speaks HTTP/1, by its first bytes; where there is one, our settings wait for these. */
  readonly http1Answer?: ((firstBytes: Buffer) => Buffer) | undefined
  /** The client has done what it must not. */
  readonly onFault: (error: Error) => void
}

const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024
const SETTINGS = [
  [SETTING.maxConcurrentStreams, MAX_CONCURRENT_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
  [SETTING.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
] as const
const GREETING_TIMEOUT_MS = 10_000
/** Frames within `QUIET_PERIOD_MS` that ask for nothing: more than that, beside those that answers call for, end the connection. */
const MAX_QUIET_FRAMES = 10_000
const QUIET_PERIOD_MS = 5_000
/** Frames that a client may send for one with an answer: it widens two windows, and measures the way by a ping. */
const QUIET_FRAMES_PER_ANSWER = 4
/** Time that the other end has to close after a fault. */
const LINGER_MS = 2_000
const HTTP1_START = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE) /
/** Bytes in which that shows. */
const HTTP1_START_BYTES = 8

/** Serves HTTP/2 to a client that knows it is spoken (RFC 9113, 3.3): requests and their answers, no push, no priorities. */
export class Http2Connection implements FrameSink {
  readonly #socket: Socket
  readonly #deps: ConnectionDeps
  readonly #reader: FrameReader
  readonly #writer: FrameWriter
  readonly #blocks = new HeaderBlocks()
  readonly #peer = new PeerSettings()
  readonly #streams: Streams
  readonly #windowBytes: number
  #receiveWindow: number
  /** Taken, and not told to the client. */
  #takenBytes = 0
  /** Since `#quietSinceMs`. */
  #quietFrames = 0
  #quietSinceMs: number
  #hasGreeted = false
  #isClosing = false
  /** Since then nothing is read any more. */
  #endedMs: number | undefined
  readonly #sinceMs: number

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#sinceMs = deps.monotonicMs()
    this.#quietSinceMs = this.#sinceMs
    this.#reader = new FrameReader(this)
    this.#writer = new FrameWriter(socket)
    const { handler, monotonicMs, windowBytes = CONNECTION_WINDOW_BYTES, streamTimeoutMs: timeoutMs = STREAM_TIMEOUT_MS } = deps
    this.#windowBytes = windowBytes
    this.#receiveWindow = windowBytes
    this.#streams = new Streams({
      ...{ writer: this.#writer, peer: this.#peer, handler, monotonicMs, timeoutMs },
      onTaken: bytes => this.#taken(bytes),
      onIdle: () => this.#endWhenIdle(),
    })
    if (deps.http1Answer === undefined) this.#greet()
    socket.on('data', this.#onData)
    socket.on('drain', () => this.#streams.sendAll())
    socket.on('close', () => this.#streams.cutAll())
  }

  /** Takes no new requests; the connection ends when those under way are answered. */
  close(): void {
    if (this.#isClosing) return
    this.#greet()
    this.#isClosing = true
    this.#streams.close()
    this.#writer.goAway(this.#streams.lastId, ERROR_CODE.none, '')
    this.#endWhenIdle()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Cuts what takes too long. */
  check(nowMs: number): void {
    if (nowMs - this.#quietSinceMs >= QUIET_PERIOD_MS) this.#forgetQuietFrames(nowMs)
    const isDone = this.#endedMs !== undefined && nowMs - this.#endedMs >= LINGER_MS
    if (isDone || (!this.#reader.isGreeted && nowMs - this.#sinceMs >= GREETING_TIMEOUT_MS)) this.#socket.destroy()
    else this.#streams.check(nowMs)
  }

  frame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (this.#blocks.isOpen !== (type === FRAME.continuation)) throw protocolFault('a header block that is not continued')
    if (type !== FRAME.headers && type !== FRAME.continuation) this.#countQuietFrame()
    const size = end - start
    switch (type) {
      case FRAME.headers:
      case FRAME.continuation:
        this.#header(type, flags, streamId, bytes, start, end)
        break
      case FRAME.priority:
        this.#priority(streamId, size)
        break
      case FRAME.resetStream:
        checkSize('a reset', size, 4)
        this.#streams.resetByClient(streamId)
        break
      case FRAME.settings:
        this.#settings(flags, streamId, bytes, start, end)
        break
      case FRAME.pushPromise:
        throw protocolFault('a client that pushes')
      case FRAME.ping:
        this.#ping(flags, streamId, bytes.subarray(start, end))
        break
      case FRAME.goAway:
        this.#goAway(streamId, size)
        break
      case FRAME.windowUpdate:
        checkSize('a window update', size, 4)
        this.#streams.windowUpdate(streamId, bytes.readUInt32BE(start) & MAX_WINDOW_BYTES)
        break
      default: // other types are passed over
    }
  }

  dataBegins(streamId: number, size: number): void {
    if (this.#blocks.isOpen) throw protocolFault('a header block that is not continued')
    if (size === 0) this.#countQuietFrame()
    this.#receiveWindow -= size
    if (this.#receiveWindow < 0) throw new ConnectionFault(ERROR_CODE.flowControl, 'more data than the window of the connection')
    this.#streams.dataBegins(streamId, size)
  }

  data(bytes: Buffer): void {
    this.#streams.data(bytes)
  }

  dataEnds(flags: number): void {
    this.#streams.dataEnds((flags & FLAG.endStream) !== 0)
  }

  /** A frame that brings no request on costs its sender next to nothing: many of them would keep other clients waiting. */
  #countQuietFrame(): void {
    const allowed = MAX_QUIET_FRAMES + QUIET_FRAMES_PER_ANSWER * this.#writer.answerFrames
    if (++this.#quietFrames > allowed) throw new ConnectionFault(ERROR_CODE.enhanceYourCalm, 'too many frames that ask for nothing')
  }

  #forgetQuietFrames(nowMs: number): void {
    this.#quietSinceMs = nowMs
    this.#quietFrames = 0
    this.#writer.answerFrames = 0
  }

  #taken(bytes: number): void {
    this.#takenBytes += bytes
    if (this.#takenBytes < this.#windowBytes / 2) return
    this.#writer.windowUpdate(0, this.#takenBytes)
    this.#receiveWindow += this.#takenBytes
    this.#takenBytes = 0
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#endedMs === undefined) this.#receive(chunk)
    releaseBytes(chunk)
  }

  #receive(chunk: Buffer): void {
    if (!this.#hasGreeted && HTTP1_START.test(chunk.toString('latin1', 0, HTTP1_START_BYTES))) return void this.#answerHttp1(chunk)
    this.#greet()
    this.#read(chunk)
  }

  #greet(): void {
    if (this.#hasGreeted) return
    this.#hasGreeted = true
    this.#writer.settings(SETTINGS)
    this.#writer.windowUpdate(0, this.#windowBytes - DEFAULT_WINDOW_BYTES)
  }

  #answerHttp1(firstBytes: Buffer): void {
    this.#deps.onFault(new Error('a request of HTTP/1'))
    this.#isClosing = true
    this.#socket.write(this.#deps.http1Answer!(firstBytes))
    this.#end()
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error
      this.#deps.onFault(error)
      this.#isClosing = true
      this.#streams.close()
      this.#writer.goAway(this.#streams.lastId, error.code, error.message)
      this.#streams.cutAll()
      this.#end()
    }
  }

  #endWhenIdle(): void {
    if (this.#isClosing && this.#streams.isIdle) this.#end()
  }

  #end(): void {
    if (this.#endedMs !== undefined) return
    this.#endedMs = this.#deps.monotonicMs()
    this.#writer.flush()
    this.#socket.end()
  }

  #header(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId === 0) throw protocolFault('a header of no stream')
    const block =
      type === FRAME.headers
        ? this.#blocks.headers(flags, streamId, bytes, start, end)
        : this.#blocks.continuation(flags, streamId, bytes, start, end)
    if (block !== undefined) this.#streams.header(block)
  }

  #priority(streamId: number, size: number): void {
    if (streamId === 0) throw protocolFault('a priority of no stream')
    if (size !== 5) this.#streams.resetById(streamId, ERROR_CODE.frameSize)
  }

  #settings(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId !== 0) throw protocolFault('settings of a stream')
    if ((flags & FLAG.ack) !== 0) {
      checkSize('an acknowledgement', end - start, 0)
      return
    }
    const before = this.#peer.initialWindowBytes
    this.#peer.apply(bytes, start, end)
    this.#writer.acknowledgeSettings()
    this.#streams.changeWindows(this.#peer.initialWindowBytes - before)
  }

  #ping(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolFault('a ping of a stream')
    checkSize('a ping', payload.length, 8)
    if ((flags & FLAG.ack) === 0) this.#writer.frame(FRAME.ping, FLAG.ack, 0, payload)
  }

  #goAway(streamId: number, size: number): void {
    if (streamId !== 0) throw protocolFault('a farewell of a stream')
    if (size < 8) throw new ConnectionFault(ERROR_CODE.frameSize, `a farewell of ${size} bytes`)
    this.close()
  }
}

const protocolFault = (what: string) => new ConnectionFault(ERROR_CODE.protocol, what)

function checkSize(what: string, size: number, expected: number): void {
  if (size !== expected) throw new ConnectionFault(ERROR_CODE.frameSize, `${what} of ${size} bytes, expected ${expected}`)
}
