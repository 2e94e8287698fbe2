/** Sends hostile requests as they are, and tells how each was answered. */
import { type Agent, request as httpRequest } from 'node:http'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type SecureClientSessionOptions } from 'node:http2'
import { request as httpsRequest, type Agent as TlsAgent } from 'node:https'

/** A request that is ready to be sent. */
export interface Attack {
  /** Enough to know the request again in a report. */
  readonly title: string
  send(): Promise<Reaction>
}

export interface Reaction {
  /**
   * An HTTP status, a gRPC status as `grpc <code>`, `none` when the connection ended without an answer, or `cut` when it ended within one: so ends
   * a large answer whose query process was ended for another query.
   */
  readonly status: string
  /** The start of the answer's text. */
  readonly text: string
  /** A part of the answer that nobody but another tenant may see, where there is one. */
  readonly leak?: string
}

/** No answer is worth waiting longer for. */
const ANSWER_MS = 60_000
const SHOWN_CHARACTERS = 300

export interface HttpAttack {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** `secret`: words that no answer may hold. */
export function sendHttp(agent: Agent | TlsAgent | false, base: string, attack: HttpAttack, secret?: RegExp): Promise<Reaction> {
  const { method, path, headers, body } = attack
  return new Promise(resolve => {
    const fail = (error: NodeJS.ErrnoException) => {
      // A kept connection may be closed in the moment it is used again, as any client has to expect; a new one may not.
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(sendHttp(false, base, attack, secret))
      else resolve({ status: 'none', text: error.message })
    }
    const sent = { agent, method, path, headers: { ...headers, 'content-length': body.length }, signal: AbortSignal.timeout(ANSWER_MS) }
    const request = base.startsWith('https:')
      ? httpsRequest(`${base}/`, { ...sent, rejectUnauthorized: false })
      : httpRequest(`${base}/`, sent)
    request.once('error', fail)
    request.once('response', response => {
      let text = ''
      let seen = ''
      let leak: string | undefined
      response.setEncoding('latin1')
      response.on('data', (part: string) => {
        if (text.length < SHOWN_CHARACTERS) text += part
        if (secret === undefined || leak !== undefined) return
        seen = seen.slice(-SHOWN_CHARACTERS) + part
        const at = secret.exec(seen)?.index
        if (at !== undefined) leak = seen.slice(Math.max(0, at - SHOWN_CHARACTERS), at + SHOWN_CHARACTERS)
      })
      response.once('error', error => resolve({ status: 'cut', text: error.message }))
      response.once('end', () =>
        resolve({ status: String(response.statusCode), text: text.slice(0, SHOWN_CHARACTERS), ...(leak !== undefined && { leak }) }),
      )
    })
    request.end(body)
  })
}

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'

/** The body comes with its length prefix, which may be wrong; so this is no work for a gRPC client. */
export function sendGrpc(
  session: () => ClientHttp2Session,
  encoding: string | undefined,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reaction> {
  return new Promise(resolve => {
    const fail = (error: Error) => resolve({ status: 'none', text: error.message })
    const stream = session().request({
      ':method': 'POST',
      ':path': EXPORT,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
      ...(encoding === undefined ? {} : { 'grpc-encoding': encoding }),
    })
    let status: Reaction | undefined
    const read = (headers: IncomingHttpHeaders) => {
      if (headers['grpc-status'] !== undefined)
        status = { status: `grpc ${headers['grpc-status']}`, text: String(headers['grpc-message'] ?? '') }
      else if (Number(headers[':status'] ?? 200) !== 200) status = { status: String(headers[':status']), text: '' }
    }
    stream.setTimeout(ANSWER_MS, () => stream.destroy(new Error(`no answer within ${ANSWER_MS} ms`)))
    stream.once('error', fail)
    stream.once('response', read)
    stream.once('trailers', read)
    stream.once('close', () => resolve(status ?? { status: 'none', text: `the stream ended with code ${stream.rstCode}` }))
    stream.resume()
    stream.end(body)
  })
}

/** A session that is opened again when the server has ended it. */
export function sessionTo(base: string, options: SecureClientSessionOptions = {}): () => ClientHttp2Session {
  let session: ClientHttp2Session | undefined
  return () => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(base, options)
      session.on('error', () => undefined)
    }
    return session
  }
}
