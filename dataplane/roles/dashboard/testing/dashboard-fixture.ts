/** A dashboard on a free port, its back ends servers of the test. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { COLLECTOR_AWAY } from '../../../tenant-export/export-http.ts'
import { createUpstream, type Upstream } from '../../../upstream/upstream.ts'
import { type DashboardDeps, startDashboard } from '../dashboard.ts'
import { DASHBOARD_HEADERS } from '../proxy/forwarded-headers.ts'
import { SERVICE_NAMES, SERVICES, type ServiceName } from '../proxy/services.ts'
import { openSite } from '../site/site.ts'
import { createUploadSender } from '../upload/upload-sender.ts'

/** A request to a back end. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface DashboardFixture {
  readonly url: string
  readonly port: number
  /** Requests to the back ends, as `service: request`. */
  readonly asked: readonly (Asked & { readonly service: ServiceName })[]
  /** From now on the service answers by this; by default it says what it was asked. */
  answer(service: ServiceName, listener: RequestListener): void
  /** Nobody listens there any more. */
  stopBackend(service: ServiceName): Promise<void>
  stop(): Promise<void>
}

export async function startDashboardFixture(overrides: Partial<DashboardDeps> = {}): Promise<DashboardFixture> {
  const asked: (Asked & { readonly service: ServiceName })[] = []
  const listeners = new Map<ServiceName, RequestListener>()
  const servers = {} as Record<ServiceName, Server>
  const backends = {} as Record<ServiceName, Upstream>
  for (const service of SERVICE_NAMES) {
    const server = createServer((request, response) => {
      const listener = listeners.get(service)
      if (listener !== undefined) return void listener(request, response)
      void echo(service, request, response, asked)
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    servers[service] = server
    const headers: Record<string, string> = service === 'search' ? { authorization: 'Basic c2VhcmNoOnNlY3JldA==' } : {}
    backends[service] = createUpstream(
      {
        ...{ endpoint: addressOf(server), name: `the ${SERVICES[service].title}`, headers, policy: DASHBOARD_HEADERS },
        ...(service === 'collector' && { unreachable: COLLECTOR_AWAY }),
      },
      SILENT,
    )
  }
  const collector = createUploadSender(addressOf(servers.collector), overrides.clock ?? systemClock)
  const server = await startDashboard({
    ...{ backends, collector, clock: systemClock, log: SILENT, host: '127.0.0.1', port: 0, routes: [] },
    ...{ credentials: undefined, publicUrl: undefined, maxRequestBytes: 4 << 20, maxPendingBytes: 64 << 20 },
    site: openSite([resolve(import.meta.dirname, '../site/not-built')]),
    ...overrides,
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    asked,
    answer: (service, listener) => void listeners.set(service, listener),
    stopBackend: service => close(servers[service]),
    async stop() {
      await server.stop(0)
      await Promise.all([collector.close(), ...Object.values(backends).map(backend => backend.close())])
      await Promise.all(Object.values(servers).map(close))
    },
  }
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function close(server: Server): Promise<void> {
  return new Promise(done => {
    server.close(() => done())
    server.closeAllConnections()
  })
}

export async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}

async function echo(service: ServiceName, request: IncomingMessage, response: ServerResponse, asked: (Asked & { service: ServiceName })[]) {
  const { method = '', url = '', headers } = request
  const body = await textOf(request)
  asked.push({ service, method, url, headers, body })
  response.writeHead(200, {
    ...{ 'content-type': 'application/json', 'cache-control': 'public, max-age=60', 'set-cookie': 'a=b' },
    ...{ 'x-own': service, 'x-frame-options': 'SAMEORIGIN' },
  })
  response.end(JSON.stringify({ service, method, url, body }))
}
