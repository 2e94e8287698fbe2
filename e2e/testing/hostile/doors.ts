/** The doors of a standalone through which hostile requests come, and how each is sent. */
import { Agent, request as httpRequest } from 'node:http'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { hostileControlRequests } from '../../../dataplane/testing/hostile/control-requests.ts'
import { hostileOtlpRequests } from '../../../dataplane/testing/hostile/otlp-requests.ts'
import { hostileSearchRequests } from '../../../dataplane/testing/hostile/search-requests.ts'
import type { Standalone } from '../standalone-process.ts'

export type Addresses = Pick<Standalone, 'grpc' | 'collector' | 'bridge' | 'ticketing' | 'agent' | 'features' | 'scheduler' | 'search'>

export const DOORS = ['otlp', 'search', 'control'] as const
export type Door = (typeof DOORS)[number]

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
}

/** No answer is worth waiting longer for. */
const ANSWER_MS = 60_000
const SHOWN_CHARACTERS = 300

/** Endless; the same seed gives the same requests. */
export function* attacksOn(door: Door, addresses: Addresses, seed: number): Generator<Attack> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  if (door === 'otlp') yield* otlpAttacks(addresses, agent, seed)
  else if (door === 'search') {
    for (const { method, path, headers, body, note } of hostileSearchRequests(seed))
      yield {
        title: `${method} ${path.slice(0, 200)} (${note})`,
        send: () => sendHttp(agent, addresses.search, { method, path, headers, body }),
      }
  } else {
    for (const { api, method, path, headers, body } of hostileControlRequests(seed))
      yield {
        title: `${api}: ${method} ${path.slice(0, 200)} ${body.toString('latin1', 0, 200)}`,
        send: () => sendHttp(agent, addresses[api], { method, path, headers, body }),
      }
  }
}

function* otlpAttacks({ collector, grpc }: Addresses, agent: Agent, seed: number): Generator<Attack> {
  const session = sessionTo(grpc)
  for (const { door, contentType, contentEncoding, body, note } of hostileOtlpRequests(seed)) {
    const title = `${door} of ${body.length} bytes (${note})`
    if (door === 'grpc') yield { title, send: () => sendGrpc(session, contentEncoding, body) }
    else {
      const headers = { 'content-type': contentType, ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }) }
      yield { title, send: () => sendHttp(agent, collector, { method: 'POST', path: '/v1/logs', headers, body }) }
    }
  }
}

interface HttpAttack {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

function sendHttp(agent: Agent | false, base: string, attack: HttpAttack): Promise<Reaction> {
  const { method, path, headers, body } = attack
  return new Promise(resolve => {
    const fail = (error: NodeJS.ErrnoException) => {
      // A kept connection may be closed in the moment it is used again, as any client has to expect; a new one may not.
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(sendHttp(false, base, attack))
      else resolve({ status: 'none', text: error.message })
    }
    const request = httpRequest(`${base}/`, {
      agent,
      method,
      path,
      headers: { ...headers, 'content-length': body.length },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    request.once('error', fail)
    request.once('response', response => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (part: string) => {
        if (text.length < SHOWN_CHARACTERS) text += part
      })
      response.once('error', error => resolve({ status: 'cut', text: error.message }))
      response.once('end', () => resolve({ status: String(response.statusCode), text: text.slice(0, SHOWN_CHARACTERS) }))
    })
    request.end(body)
  })
}

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'

/** The body comes with its length prefix, which may be wrong; so this is no work for a gRPC client. */
function sendGrpc(session: () => ClientHttp2Session, encoding: string | undefined, body: Buffer): Promise<Reaction> {
  return new Promise(resolve => {
    const fail = (error: Error) => resolve({ status: 'none', text: error.message })
    const stream = session().request({
      ':method': 'POST',
      ':path': EXPORT,
      'content-type': 'application/grpc',
      te: 'trailers',
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
function sessionTo(address: string): () => ClientHttp2Session {
  let session: ClientHttp2Session | undefined
  return () => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`http://${address}`)
      session.on('error', () => undefined)
    }
    return session
  }
}
