/** Reads HTTP/2 frames from the bytes of a connection. */
import { Buffer } from 'node:buffer'
import { ConnectionFault, DEFAULT_MAX_FRAME_BYTES, ERROR_CODE, FLAG, FRAME, FRAME_HEADER_BYTES, PREFACE } from './protocol.ts'

/** Receives the frames in a connection's bytes. The bytes given are valid during the call only. */
export interface FrameSink {
  /** A frame other than data, as it lies in `bytes`. */
  frame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void
  /** A data frame begins; `size` is what counts for flow control. */
  dataBegins(streamId: number, size: number): void
  data(bytes: Buffer): void
  dataEnds(flags: number): void
}

interface DataFrame {
  readonly streamId: number
  readonly flags: number
  left: number
  padding: number
}

/** Cuts the bytes of a connection into frames; data is passed on as it comes, other frames when they are whole. Its methods throw a `ConnectionFault`. */
export class FrameReader {
  readonly #sink: FrameSink
  #prefaceSeen = false
  #settingsSeen = false
  /** The start of a frame whose rest is to come. */
  #rest: Buffer | undefined
  #data: DataFrame | undefined

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Whether the client has shown that it speaks HTTP/2. */
  get isGreeted(): boolean {
    return this.#settingsSeen
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = undefined
    let at = 0
    let next = 0
    while (next >= 0) {
      at = next
      next = this.#next(bytes, at)
    }
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }

  /** Where the next frame starts; negative when the bytes end before the one at `at` does. */
  #next(bytes: Buffer, at: number): number {
    if (this.#data !== undefined) return this.#readData(this.#data, bytes, at)
    if (!this.#prefaceSeen) return this.#readPreface(bytes)
    if (bytes.length - at < FRAME_HEADER_BYTES) return -1
    const length = bytes.readUIntBE(at, 3)
    const type = bytes[at + 3]!
    if (length > DEFAULT_MAX_FRAME_BYTES) throw new ConnectionFault(ERROR_CODE.frameSize, `a frame of ${length} bytes`)
    const flags = bytes[at + 4]!
    const isData = type === FRAME.data
    const isPadded = (flags & FLAG.padded) !== 0
    if (isData && isPadded && length === 0) throw new ConnectionFault(ERROR_CODE.frameSize, 'a padded frame without padding length')
    const needed = !isData ? length : isPadded ? 1 : 0
    if (bytes.length - at < FRAME_HEADER_BYTES + needed) return -1
    const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff
    const start = at + FRAME_HEADER_BYTES
    if (!this.#settingsSeen) this.#expectSettings(type, flags)
    if (isData) return this.#beginData(bytes, start, { streamId, flags, left: length, padding: 0 })
    this.#sink.frame(type, flags, streamId, bytes, start, start + length)
    return start + length
  }

  #readPreface(bytes: Buffer): number {
    const size = Math.min(bytes.length, PREFACE.length)
    if (bytes.toString('latin1', 0, size) !== PREFACE.slice(0, size))
      throw new ConnectionFault(ERROR_CODE.protocol, 'this port speaks HTTP/2')
    if (size < PREFACE.length) return -1
    this.#prefaceSeen = true
    return size
  }

  #expectSettings(type: number, flags: number): void {
    if (type !== FRAME.settings || (flags & FLAG.ack) !== 0) throw new ConnectionFault(ERROR_CODE.protocol, 'settings have to come first')
    this.#settingsSeen = true
  }

  #beginData(bytes: Buffer, start: number, frame: DataFrame): number {
    this.#sink.dataBegins(frame.streamId, frame.left)
    this.#data = frame
    if ((frame.flags & FLAG.padded) === 0) return start
    frame.padding = bytes[start]!
    frame.left--
    if (frame.padding > frame.left) throw new ConnectionFault(ERROR_CODE.protocol, 'padding longer than its frame')
    return start + 1
  }

  #readData(frame: DataFrame, bytes: Buffer, at: number): number {
    const taken = Math.min(frame.left, bytes.length - at)
    const content = Math.min(taken, frame.left - frame.padding)
    if (content > 0) this.#sink.data(bytes.subarray(at, at + content))
    frame.left -= taken
    if (frame.left < frame.padding) frame.padding = frame.left
    if (frame.left > 0) return taken === 0 ? -1 : at + taken
    this.#data = undefined
    this.#sink.dataEnds(frame.flags)
    return at + taken
  }
}
