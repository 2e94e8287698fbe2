/** Requests that are over here while their client may still send: read on for a while and thrown away, so that the answer arrives. */
import type { FrameWriter } from './frame-writer.ts'
import { ERROR_CODE, type ErrorCode } from './protocol.ts'
import type { Stream } from './stream.ts'

/** A request is read on for so long after its answer; then its client is told to stop. */
const LATE_MS = 2_000
/** Streams reset here of which late frames are passed over. */
const MAX_REMEMBERED = 1000

interface Late {
  /** Bytes that the client may still send. */
  room: number
  /** Bytes that are missing from the length that the request promised; undefined: it promised none. */
  missing: number | undefined
  readonly untilMs: number
}

/**
 * Some clients lose an answer whose stream is reset while they still write. The reset of an answered request comes only when the client
 * has used up its window or its time. A client that ends its request before that is never reset.
 */
export class LateRequests {
  readonly #writer: FrameWriter
  readonly #onLess: () => void
  readonly #late = new Map<number, Late>()
  /** Streams that were reset here; the client may not know yet. */
  readonly #reset = new Set<number>()

  /** `onLess` is called when a request is read on no longer. */
  constructor(writer: FrameWriter, onLess: () => void) {
    this.#writer = writer
    this.#onLess = onLess
  }

  /** Requests that are read on. */
  get size(): number {
    return this.#late.size
  }

  /** Frames of this stream are no fault: they were sent before the client knew. */
  expects(streamId: number): boolean {
    return this.#late.has(streamId) || this.#reset.has(streamId)
  }

  /** The request was answered before it was whole. */
  add({ id, receiveWindow, contentLength, receivedBytes }: Stream, nowMs: number): void {
    const missing = contentLength === undefined ? undefined : contentLength - receivedBytes
    if (receiveWindow > 0) this.#late.set(id, { room: receiveWindow, missing, untilMs: nowMs + LATE_MS })
    else this.reset(id, ERROR_CODE.none)
  }

  reset(streamId: number, code: ErrorCode): void {
    this.#writer.reset(streamId, code)
    this.#reset.add(streamId)
    if (this.#reset.size > MAX_REMEMBERED) this.#reset.delete(this.#reset.values().next().value!)
    this.cut(streamId)
  }

  /** `size` is what counts for flow control. */
  dataBegins(streamId: number, size: number): void {
    const late = this.#late.get(streamId)
    if (late === undefined) return
    late.room -= size
    if (late.room < 0) this.reset(streamId, ERROR_CODE.flowControl)
  }

  data(streamId: number, bytes: number): void {
    const late = this.#late.get(streamId)
    if (late?.missing !== undefined) late.missing -= bytes
  }

  dataEnds(streamId: number, endsStream: boolean): void {
    if (endsStream) this.end(streamId)
    else if (this.#late.get(streamId)?.room === 0) this.reset(streamId, ERROR_CODE.none)
  }

  /** The client has ended the request. curl 7.88 ends it early, and waits for a reset where it promised more bytes. */
  end(streamId: number): void {
    const missing = this.#late.get(streamId)?.missing ?? 0
    if (missing !== 0) this.reset(streamId, ERROR_CODE.none)
    else this.cut(streamId)
  }

  /** The client has given the request up. */
  cut(streamId: number): void {
    if (this.#late.delete(streamId)) this.#onLess()
  }

  check(nowMs: number): void {
    for (const [streamId, { untilMs }] of this.#late) if (nowMs >= untilMs) this.reset(streamId, ERROR_CODE.none)
  }
}
