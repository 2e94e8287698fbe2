/** A server whose requests are seen and answered by the test, and a client that speaks to it by hand. */
import { SILENT } from '../../../telemetry/log.ts'
import { Answer } from '../answer.ts'
import { FLAG, FRAME } from '../protocol.ts'
import type { RequestHead } from '../request-head.ts'
import { startHttp2Server } from '../server.ts'
import type { Exchange, RequestReceiver } from '../stream.ts'
import { connectRaw, type Frame, type RawClient, rawFrame } from './raw-client.ts'

export const OK = new Answer({ head: [[':status', '200']], body: Buffer.from('hello'), trailers: [['grpc-status', '0']] })
/** `:method POST`, `:scheme http`, `:path /`. */
export const HEAD = Buffer.from([0x83, 0x86, 0x84])
export const END = FLAG.endHeaders | FLAG.endStream

export const headers = (streamId: number, flags: number = END, block: Uint8Array = HEAD) => rawFrame(FRAME.headers, flags, streamId, block)
export const data = (streamId: number, payload: Uint8Array, flags = 0) => rawFrame(FRAME.data, flags, streamId, payload)

/** A header field that is not indexed. */
export const literal = (name: string, value: string) =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])

/** The error code in a frame's payload. */
export const codeOf = ({ payload }: Frame, at: number) => payload.readUInt32BE(at)

/** Resolves once `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

/** A request as the server saw it. */
export class Seen implements RequestReceiver {
  readonly head: RequestHead
  readonly #done: () => void
  readonly #chunks: Buffer[] = []
  #isWhole = false
  isCut = false

  /** `done` is called once, when the request is whole or cut. */
  constructor(head: RequestHead, done: () => void) {
    this.head = head
    this.#done = done
  }

  get body(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  data(bytes: Buffer): void {
    this.#chunks.push(Buffer.from(bytes))
  }

  end(): void {
    this.#isWhole = true
    this.#done()
  }

  cut(): void {
    this.isCut = true
    if (!this.#isWhole) this.#done()
  }
}

export interface Http2Harness {
  readonly port: number
  readonly client: RawClient
  readonly seen: readonly Seen[]
  /** Requests that wait for their answer. */
  readonly held: readonly Exchange[]
  readonly control: {
    /** Whether answers are left to the test; otherwise each is `OK`. */
    isHolding: boolean
    nowMs: number
  }
  /** Resolves once a request was answered; to its end with trailers. */
  answerTo(streamId: number): Promise<boolean>
  stop(graceMs?: number): Promise<void>
}

export async function startHttp2Harness(): Promise<Http2Harness> {
  const seen: Seen[] = []
  const held: Exchange[] = []
  const control = { isHolding: false, nowMs: 0 }
  const handler = (head: RequestHead, exchange: Exchange) => {
    const request = new Seen(head, () => {
      if (control.isHolding) held.push(exchange)
      else exchange.answer(OK)
    })
    seen.push(request)
    return request
  }
  const deps = { createHandler: () => handler, monotonicMs: () => control.nowMs, log: SILENT, checkMs: 5 }
  const server = await startHttp2Server(deps, { host: '127.0.0.1', port: 0, setting: 'PORT' })
  const client = await connectRaw(server.port)
  return {
    control,
    port: server.port,
    client,
    seen,
    held,
    async answerTo(streamId) {
      const isLast = ({ type, flags }: Frame) => (flags & FLAG.endStream) !== 0 && type <= FRAME.headers
      const { type } = await client.next(frame => frame.streamId === streamId && isLast(frame))
      return type === FRAME.headers
    },
    async stop(graceMs = 0) {
      if (graceMs === 0) client.close()
      await server.stop(graceMs)
    },
  }
}
