/** Stands between a client and an HTTP server and does what servers and networks do on bad days. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** `unread`: nobody reads the request's body. `cut`: the request never arrives. `lost`: it is done, its answer never arrives. `halved`: half of its answer does. */
export type Fault = 'unread' | 'cut' | 'lost' | 'halved' | { readonly status: number } | { readonly delayMs: number }

export interface ProxiedRequest {
  readonly method: string
  readonly path: string
  /** As its head says. */
  readonly bytes: number
  readonly authorization: string | undefined
}

export interface FaultyProxy {
  readonly url: string
  readonly mostInFlight: number
  /** Decides the fault of each request from now on; undefined: none. */
  decide(fault: (request: ProxiedRequest) => Fault | undefined): void
  stop(): Promise<void>
}

export async function startFaultyProxy(target: string, tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<FaultyProxy> {
  let fault: (request: ProxiedRequest) => Fault | undefined = () => undefined
  let inFlight = 0
  let mostInFlight = 0

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    mostInFlight = Math.max(mostInFlight, ++inFlight)
    response.once('close', () => inFlight--)
    const { method = 'GET', url = '/', headers } = incoming
    const bytes = Number(headers['content-length'] ?? 0)
    const decided = fault({ method, path: url, bytes, authorization: headers.authorization })
    if (decided === 'unread') return void incoming.socket.resetAndDestroy()
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (decided === 'cut') return void incoming.socket.destroy()
    if (typeof decided === 'object' && 'status' in decided)
      return void response
        .writeHead(decided.status, { 'content-type': 'application/json' })
        .end(`{"error":{"type":"x"},"status":${decided.status}}`)
    if (typeof decided === 'object') await new Promise(done => setTimeout(done, decided.delayMs))
    forward(target, { method, url, headers }, body, answer => {
      // An answer that nobody reads would keep its connection, and the process.
      if (response.destroyed) return void answer?.destroy()
      response.once('close', () => answer?.destroy())
      if (answer === undefined || decided === 'lost') return void incoming.socket.destroy()
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      if (decided === 'halved') return void half(answer, response)
      answer.pipe(response)
    })
  }
  const onRequest = (incoming: IncomingMessage, response: ServerResponse) => {
    // A client that goes away takes its request along.
    handle(incoming, response).catch(() => response.destroy())
  }
  const server: Server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get mostInFlight() {
      return mostInFlight
    },
    decide(next) {
      fault = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
}

async function half(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

function forward(
  target: string,
  { method, url, headers }: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] },
  body: Buffer,
  onAnswer: (answer: IncomingMessage | undefined) => void,
): void {
  const { connection: _connection, host: _host, ...rest } = headers
  const outgoing = request(new URL(url, target), { method, headers: { ...rest, 'content-length': body.length } }, onAnswer)
  outgoing.on('error', () => onAnswer(undefined))
  outgoing.end(body)
}
