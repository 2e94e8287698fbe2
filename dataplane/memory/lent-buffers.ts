import { FreeBuffers } from './free-buffers.ts'
import { releaseBytes } from './release-bytes.ts'

/** Smaller buffers are cheap to allocate; larger ones are too rare to be kept. */
const MIN_BYTES = 64 * 1024
const MAX_BYTES = 8 * 1024 * 1024
/** So that bodies of about the same size fit into each other's memory. */
const STEP_BYTES = 512 * 1024
const MAX_FREE = 4

/**
 * Lends the memory that request bodies are written into, the same again and again: megabytes of new memory for every request
 * have to be cleared by the system, and drive the garbage collector to go over the whole heap each time 64 MB have come together.
 */
export class LentBuffers {
  readonly #free = new FreeBuffers(MAX_FREE)
  readonly #minBytes: number

  /** Less than `minBytes` is allocated. */
  constructor(minBytes = MIN_BYTES) {
    this.#minBytes = minBytes
  }

  /** At least so many bytes. */
  take(sizeBytes: number): Buffer {
    if (sizeBytes < this.#minBytes || sizeBytes > MAX_BYTES) return Buffer.allocUnsafe(sizeBytes)
    return this.#free.take(sizeBytes) ?? Buffer.allocUnsafeSlow(Math.ceil(sizeBytes / STEP_BYTES) * STEP_BYTES)
  }

  /** The same of memory that nobody else has a part in, so that it can be handed to another thread. */
  takeWhole(sizeBytes: number): Buffer<ArrayBuffer> {
    return sizeBytes < this.#minBytes ? Buffer.allocUnsafeSlow(sizeBytes) : (this.take(sizeBytes) as Buffer<ArrayBuffer>)
  }

  /**
   * The start of what `take` gave, once nobody reads it any more: a body that may still be on its way is never given back.
   * Other memory, if it is the body's alone, goes back to the system.
   */
  giveBack(body: Uint8Array): void {
    const { buffer } = body
    if (buffer.byteLength >= STEP_BYTES && buffer.byteLength <= MAX_BYTES && buffer.byteLength % STEP_BYTES === 0)
      this.#free.giveBack(Buffer.from(buffer))
    else releaseBytes(body)
  }
}

/** Gives out parts of a buffer, side by side. A part that does not fit any more gets memory of its own. */
export function partsOf(buffer: Buffer): (sizeBytes: number) => Buffer {
  let used = 0
  return sizeBytes => {
    if (sizeBytes > buffer.length - used) return Buffer.allocUnsafe(sizeBytes)
    const start = used
    used += sizeBytes
    return buffer.subarray(start, used)
  }
}
