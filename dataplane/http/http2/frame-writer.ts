/** Writes HTTP/2 frames to a connection. */
import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { DEFAULT_MAX_FRAME_BYTES, type ErrorCode, FLAG, FRAME, FRAME_HEADER_BYTES } from './protocol.ts'

const FIRST_BYTES = 512
/** A client that leaves so much unread is cut. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Bodies that come in pieces wait while the client leaves so much unread. */
const ENOUGH_UNREAD_BYTES = 256 * 1024

const NO_BYTES = new Uint8Array()

/** Gathers the frames of one turn of the event loop, and writes them at its end. */
export class FrameWriter {
  readonly #socket: Socket
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #size = 0
  #isPlanned = false
  /** Frames of answers that were written; who reads it sets it back. */
  answerFrames = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    if (type === FRAME.data || type === FRAME.headers) this.answerFrames++
    const at = this.#extend(FRAME_HEADER_BYTES + payload.length)
    writeFrameHeader(this.#bytes, at, { length: payload.length, type, flags, streamId })
    this.#bytes.set(payload, at + FRAME_HEADER_BYTES)
  }

  /** False while the client is behind with reading; the socket's `drain` follows. */
  get hasRoom(): boolean {
    return this.#size + this.#socket.writableLength < ENOUGH_UNREAD_BYTES
  }

  /** A header block, in as many frames as it needs. */
  headers(flags: number, streamId: number, block: Uint8Array): void {
    if (block.length <= DEFAULT_MAX_FRAME_BYTES) return void this.frame(FRAME.headers, flags, streamId, block)
    for (let at = 0; at < block.length; at += DEFAULT_MAX_FRAME_BYTES) {
      const isLast = at + DEFAULT_MAX_FRAME_BYTES >= block.length
      const own = (at === 0 ? flags & ~FLAG.endHeaders : 0) | (isLast ? FLAG.endHeaders : 0)
      this.frame(at === 0 ? FRAME.headers : FRAME.continuation, own, streamId, block.subarray(at, at + DEFAULT_MAX_FRAME_BYTES))
    }
  }

  /** Whole frames, whose stream ids belong at `idPlaces`. */
  frames(frames: Buffer, idPlaces: readonly number[], streamId: number): void {
    this.answerFrames += idPlaces.length
    const at = this.#extend(frames.length)
    frames.copy(this.#bytes, at)
    for (const place of idPlaces) this.#bytes.writeUInt32BE(streamId, at + place)
  }

  settings(settings: readonly (readonly [setting: number, value: number])[]): void {
    const payload = Buffer.alloc(6 * settings.length)
    for (const [i, [setting, value]] of settings.entries()) payload.writeUInt32BE(value, payload.writeUInt16BE(setting, 6 * i))
    this.frame(FRAME.settings, 0, 0, payload)
  }

  acknowledgeSettings(): void {
    this.frame(FRAME.settings, FLAG.ack, 0, NO_BYTES)
  }

  /** The other end may send so many bytes more, on one stream or (0) altogether. */
  windowUpdate(streamId: number, increment: number): void {
    this.frame(FRAME.windowUpdate, 0, streamId, uint32(increment))
  }

  reset(streamId: number, code: ErrorCode): void {
    this.frame(FRAME.resetStream, 0, streamId, uint32(code))
  }

  goAway(lastStreamId: number, code: ErrorCode, message: string): void {
    this.frame(FRAME.goAway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code), Buffer.from(message, 'latin1')]))
  }

  flush(): void {
    if (this.#size === 0) return
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#size))
    this.#size = 0
    if (!this.#socket.writable) return
    this.#socket.write(bytes)
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#socket.destroy()
  }

  #extend(bytes: number): number {
    const at = this.#size
    this.#size += bytes
    if (this.#size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.#size)
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    if (!this.#isPlanned) {
      this.#isPlanned = true
      process.nextTick(this.#flushPlanned)
    }
    return at
  }

  readonly #flushPlanned = (): void => {
    this.#isPlanned = false
    this.flush()
  }
}

export interface FrameHeader {
  readonly length: number
  readonly type: number
  readonly flags: number
  readonly streamId: number
}

export function writeFrameHeader(bytes: Buffer, at: number, { length, type, flags, streamId }: FrameHeader): void {
  bytes.writeUIntBE(length, at, 3)
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes.writeUInt32BE(streamId, at + 5)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value)
  return bytes
}
