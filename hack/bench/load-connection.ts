/** The three ways a request travels, each with as little client work as possible. */

import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export const PROTOCOLS = ['http-json', 'http-protobuf', 'grpc'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface Answer {
  /** HTTP status, or `grpc N`. */
  readonly status: string
  readonly isAccepted: boolean
  /** The same request may be sent again after this long. */
  readonly retryAfterMs?: number
}

/** Carries one request at a time. */
export interface Lane {
  send(body: Buffer): Promise<Answer>
}

export interface Connections {
  readonly lanes: readonly Lane[]
  close(): void
}

export interface Target {
  readonly protocol: Protocol
  readonly host: string
  readonly port: number
  /** Ignored by gRPC. */
  readonly path: string
  /** Key for the gateway, which speaks TLS by a certificate that no one trusts. */
  readonly apiKey?: string
}

export function connect(target: Target, lanes: number): Promise<Connections> {
  return target.protocol === 'grpc' ? connectGrpc(target, lanes) : connectHttp(target, lanes)
}

const DEFAULT_RETRY_MS = 100

async function connectHttp({ protocol, host, port, path, apiKey }: Target, count: number): Promise<Connections> {
  const type = protocol === 'http-json' ? 'application/json' : 'application/x-protobuf'
  const key = apiKey === undefined ? '' : `x-service-api-key: ${apiKey}\r\n`
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${key}Content-Type: ${type}\r\nContent-Length: `
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      if (apiKey === undefined) {
        const socket = connectTcp({ host, port, noDelay: true })
        await once(socket, 'connect')
        return socket
      }
      const socket = connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      await once(socket, 'secureConnect')
      return socket.setNoDelay()
    }),
  )
  return {
    lanes: sockets.map(socket => httpLane(socket, head)),
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function httpLane(socket: Socket, head: string): Lane {
  let received = ''
  let resolve: ((answer: Answer) => void) | undefined
  let reject: ((error: Error) => void) | undefined
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    const answer = readAnswer(received)
    if (answer === undefined) return
    received = ''
    resolve?.(answer)
  })
  const fail = (error?: Error) => reject?.(error ?? new Error('the server closed the connection'))
  socket.on('error', fail)
  socket.on('close', () => fail())
  return {
    send: body =>
      new Promise((done, failed) => {
        resolve = done
        reject = failed
        if (socket.destroyed) return fail()
        socket.cork()
        socket.write(`${head}${body.length}\r\n\r\n`, 'latin1')
        socket.write(body)
        socket.uncork()
      }),
  }
}

/** Undefined until the whole response is there. */
function readAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const status = head.slice(9, 12)
  const isWhole = status === '204' || (length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= headEnd + 4 + Number(length))
  if (!isWhole) return undefined
  const retryAfter = /\r\nretry-after: *([\d.]+)/i.exec(head)?.[1]
  const isRetryable = status === '429' || status === '503'
  return {
    status,
    isAccepted: status.startsWith('2'),
    ...(isRetryable ? { retryAfterMs: retryAfter === undefined ? DEFAULT_RETRY_MS : Number(retryAfter) * 1000 } : {}),
  }
}

const STREAMS_PER_SESSION = 16
const RETRYABLE_GRPC = ['8', '14']

async function connectGrpc({ host, port, apiKey }: Target, count: number): Promise<Connections> {
  const sessions = await Promise.all(
    Array.from({ length: Math.ceil(count / STREAMS_PER_SESSION) }, async () => {
      const session = connectHttp2(`${apiKey === undefined ? 'http' : 'https'}://${host}:${port}`, { rejectUnauthorized: false })
      await once(session, 'connect')
      return session
    }),
  )
  const request = {
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(apiKey !== undefined && { 'x-service-api-key': apiKey }),
  }
  const lane = (index: number): Lane => ({
    send: body =>
      new Promise((resolve, reject) => {
        const stream = sessions[index % sessions.length]!.request(request)
        let status: unknown
        const readStatus = (headers: Readonly<Record<string, unknown>>) => {
          status = headers['grpc-status'] ?? status
        }
        stream.on('response', readStatus)
        stream.on('trailers', readStatus)
        stream.on('error', reject)
        stream.on('close', () => resolve(grpcAnswer(String(status))))
        stream.resume()
        const prefix = Buffer.alloc(5)
        prefix.writeUInt32BE(body.length, 1)
        stream.end(Buffer.concat([prefix, body]))
      }),
  })
  return {
    lanes: Array.from({ length: count }, (_, i) => lane(i)),
    close: () => {
      for (const session of sessions) session.destroy()
    },
  }
}

function grpcAnswer(status: string): Answer {
  return {
    status: `grpc ${status}`,
    isAccepted: status === '0',
    ...(RETRYABLE_GRPC.includes(status) ? { retryAfterMs: DEFAULT_RETRY_MS } : {}),
  }
}
