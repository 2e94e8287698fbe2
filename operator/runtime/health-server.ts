/** `/health` as every role has it (Decisions 2), `/healthz`, `/readyz` and `/metrics` as controllers do, on a port of their own. */
import type { ServerResponse } from 'node:http'
import { type HttpServer, type ListenConfig, startHttpServer } from '../../dataplane/http/server.ts'

/** By name, a check that returns the problem, or undefined without one. */
export type Checks = Readonly<Record<string, () => string | undefined>>

export interface HealthServerDeps {
  /** A process that fails one of these is to be restarted. */
  readonly live: Checks
  /** One that fails one of these is not done starting, or does not see the cluster. */
  readonly ready: Checks
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
}

export function startHealthServer(listen: ListenConfig, { live, ready, metrics }: HealthServerDeps): Promise<HttpServer> {
  return startHttpServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, `${request.method} is not allowed here, GET is\n`)
    if (path === '/health') return sendHealth(response, live)
    if (path === '/healthz' || path === '/livez') return sendChecks(response, live)
    if (path === '/readyz') return sendChecks(response, ready)
    if (path !== '/metrics') return send(response, 404, 'expected /health, /healthz, /readyz or /metrics\n')
    metrics.text().then(
      text => send(response, 200, text, metrics.contentType),
      error => send(response, 500, `${error}\n`),
    )
  }, listen)
}

function sendHealth(response: ServerResponse, checks: Checks): void {
  const problems = run(checks).flatMap(({ problem }) => problem ?? [])
  const body = problems.length === 0 ? { status: 'ok' } : { status: 'failing', problems }
  send(response, problems.length === 0 ? 200 : 503, JSON.stringify(body), 'application/json')
}

function sendChecks(response: ServerResponse, checks: Checks): void {
  const results = run(checks)
  const lines = results.map(({ name, problem }) => (problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`))
  send(response, results.every(({ problem }) => problem === undefined) ? 200 : 503, `${lines.join('\n')}\n`)
}

function run(checks: Checks) {
  return Object.entries(checks).map(([name, check]) => ({ name, problem: check() }))
}

function send(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType }).end(text)
}
