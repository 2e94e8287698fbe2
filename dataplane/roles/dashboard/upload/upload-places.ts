/** The places of uploads that are under way. One whose caller is slow gives its place to the next that comes. */
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../../../http/http-error.ts'

/** At a time. */
const MAX_UPLOADS = 8
/** Time spent waiting for the caller, over which the caller's rate is taken. */
const MEASURED_MS = 10_000
/** Callers that send less may lose their place. */
const MIN_BYTES_PER_SECOND = 8 * 1_024
const RETRY_AFTER = { 'retry-after': '5' }

export interface UploadPlaces {
  /** Throws `HttpError` 429 where all places are taken by uploads that go on. */
  enter(): UploadPlace
}

export interface UploadPlace {
  /** The body as it comes; the request stays open when it is given up. Throws `HttpError` 429 once the place is another upload's. */
  bodyOf(request: IncomingMessage): AsyncGenerator<Buffer>
  leave(): void
}

/** `nowMs`: of a clock that nobody sets. */
export function createUploadPlaces(nowMs: () => number): UploadPlaces {
  const taken = new Set<Pace>()
  return {
    enter() {
      if (taken.size >= MAX_UPLOADS) {
        const slowest = [...taken].filter(pace => pace.rate() < MIN_BYTES_PER_SECOND).sort((a, b) => a.rate() - b.rate())[0]
        if (slowest === undefined) throw new HttpError(429, `${taken.size} uploads are under way; try again later`, RETRY_AFTER)
        taken.delete(slowest)
        slowest.giveUp()
      }
      const pace = new Pace(nowMs)
      taken.add(pace)
      return { bodyOf: request => readAtPace(request, pace), leave: () => void taken.delete(pace) }
    },
  }
}

async function* readAtPace(request: IncomingMessage, pace: Pace): AsyncGenerator<Buffer> {
  for (;;) {
    pace.assertPlace()
    const chunk = request.read() as Buffer | null
    if (chunk !== null) {
      pace.came(chunk.length)
      yield chunk
    } else if (request.readableEnded) return
    else if (request.destroyed) throw request.errored ?? new Error('the client hung up')
    else await pace.waiting(new Promise(resolve => onMore(request, resolve)))
  }
}

/** Calls back once there is something to read, or nothing more comes. */
function onMore(request: IncomingMessage, more: () => void): void {
  const events = ['readable', 'end', 'error', 'close'] as const
  const once = () => {
    for (const event of events) request.off(event, once)
    more()
  }
  for (const event of events) request.on(event, once)
}

/** How fast a caller sends, by the time in which the upload waited for nothing else. */
class Pace {
  readonly #nowMs: () => number
  #bytes = 0
  #waitedMs = 0
  #waitsSinceMs: number | undefined
  /** Over the last whole time of measurement. A new upload may be as fast as any. */
  #lastRate = Number.POSITIVE_INFINITY
  #isGivenUp = false
  #wake: () => void = () => undefined

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Bytes a second. */
  rate(): number {
    const waitedMs = this.#waitedMs + (this.#waitsSinceMs === undefined ? 0 : this.#nowMs() - this.#waitsSinceMs)
    return waitedMs < MEASURED_MS ? this.#lastRate : (this.#bytes / waitedMs) * 1_000
  }

  came(bytes: number): void {
    this.#bytes += bytes
    if (this.#waitedMs < MEASURED_MS) return
    this.#lastRate = this.rate()
    this.#bytes = 0
    this.#waitedMs = 0
  }

  async waiting(more: Promise<void>): Promise<void> {
    this.#waitsSinceMs = this.#nowMs()
    const woken = Promise.withResolvers<void>()
    this.#wake = woken.resolve
    await Promise.race([more, woken.promise])
    this.#waitedMs += this.#nowMs() - this.#waitsSinceMs
    this.#waitsSinceMs = undefined
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#wake()
  }

  assertPlace(): void {
    if (this.#isGivenUp)
      throw new HttpError(429, 'the upload came too slowly while another one needed its place; try again later', RETRY_AFTER)
  }
}
