/** A request and its answer as streams, for handlers that know those of Node's HTTP server. */
import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import type { HeaderField } from './hpack-static-table.ts'
import type { RequestHead } from './request-head.ts'
import type { AnswerBody, Exchange, RequestReceiver } from './stream.ts'

/** Answers over HTTP/2 have none of these. */
const OF_HTTP_1: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
/** Characters that no header field holds. */
const UNSPEAKABLE = /[^\t\x20-\x7e\x80-\xff]/
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

export type MessageListener = (request: Http2Request, response: Http2Response, expectsContinue: boolean) => void

/** The receiver of a request that is handed to `listener` with its head. */
export function receiveAsMessages(head: RequestHead, exchange: Exchange, socket: Socket, listener: MessageListener): RequestReceiver {
  const request = new Http2Request(head, exchange, socket)
  const response = new Http2Response(head.method, exchange)
  response.once('close', () => request.destroy())
  listener(request, response, head.get('expect')?.toLowerCase() === '100-continue')
  return {
    data: bytes => request.receive(bytes),
    end: () => request.finish(),
    cut() {
      request.destroy()
      response.destroy()
    },
  }
}

/** The request: header, then the body as it is read. */
export class Http2Request extends Readable {
  readonly httpVersion = '2.0'
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly socket: Socket
  /** A body may come, even where its length is not told. */
  readonly mayHaveBody: boolean
  /** All of it has come. */
  complete = false
  readonly #exchange: Exchange

  constructor(head: RequestHead, exchange: Exchange, socket: Socket) {
    super()
    this.method = head.method
    this.url = head.path
    this.headers = head.all()
    this.socket = socket
    this.mayHaveBody = !exchange.isWhole
    this.#exchange = exchange
  }

  receive(bytes: Buffer): void {
    if (!this.destroyed && !this.push(Buffer.from(bytes))) this.#exchange.hold()
  }

  finish(): void {
    this.complete = true
    if (!this.destroyed) this.push(null)
  }

  override _read(): void {
    this.#exchange.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#exchange.resume()
    done(error)
  }
}

/** The answer: status and header fields until the first byte, then the body as the client takes it. */
export class Http2Response extends Writable {
  statusCode = 200
  headersSent = false
  readonly #exchange: Exchange
  readonly #isForHead: boolean
  readonly #fields = new Map<string, string | readonly string[]>()
  #body: AnswerBody | undefined
  #onRoom: (() => void) | undefined

  constructor(method: string, exchange: Exchange) {
    super()
    this.#exchange = exchange
    this.#isForHead = method === 'HEAD'
  }

  setHeader(name: string, value: string | number | readonly string[]): this {
    const field = name.toLowerCase()
    const values = (Array.isArray(value) ? value : [value]).map(String)
    if (!NAME.test(field) || values.some(text => UNSPEAKABLE.test(text))) throw new TypeError(`${field}: no header field of HTTP/2`)
    if (!OF_HTTP_1.has(field)) this.#fields.set(field, values.length === 1 ? values[0]! : values)
    return this
  }

  /** The client may send the body. */
  writeContinue(): void {
    this.#exchange.inform([[':status', '100']])
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const body = this.#begun()
    if (this.#isForHead || BODILESS.has(this.statusCode) || body.write(bytes)) done()
    else this.#onRoom = done
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#begun().end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#body === undefined) this.#exchange.abandon()
    else if (!this.writableFinished) this.#body.breakOff()
    done(error)
  }

  #begun(): AnswerBody {
    if (this.#body === undefined) {
      this.headersSent = true
      this.#body = this.#exchange.begin(this.#head(), () => {
        const room = this.#onRoom
        this.#onRoom = undefined
        room?.()
      })
    }
    return this.#body
  }

  #head(): readonly HeaderField[] {
    if (this.statusCode === 204) this.#fields.delete('content-length')
    if (!this.#fields.has('date')) this.#fields.set('date', new Date().toUTCString())
    const fields = [...this.#fields].flatMap(([name, value]) => [value].flat().map(each => [name, each] as const))
    return [[':status', String(this.statusCode)], ...fields]
  }
}
