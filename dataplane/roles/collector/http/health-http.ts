import type { RequestListener, ServerResponse } from 'node:http'
import { formatUptime } from '../../../domain/time/duration.ts'
import { errorBody } from '../../../http/http-error.ts'
import { pathOfTarget } from '../../../http/target-path.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Metrics } from '../../../telemetry/metrics.ts'

export interface HealthHttpDeps {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Log
  readonly isReady: () => boolean
}

type Answer = (response: ServerResponse) => void | Promise<void>

/** `GET /` (Spec: Ingestion), `/health` and `/metrics`. */
export function createHealthHttp({ clock, metrics, log, isReady }: HealthHttpDeps): RequestListener {
  const upSince = new Date(clock.nowMs()).toISOString()
  const startedMs = monotonicMs(clock)
  const answers: Readonly<Record<string, Answer>> = {
    '/'(response) {
      const ready = isReady()
      answerJson(response, ready ? 200 : 503, {
        status: ready ? 'Server available' : 'Server not available',
        upSince,
        uptime: formatUptime(monotonicMs(clock) - startedMs),
      })
    },
    '/health': response => answerJson(response, 200, { status: 'ok' }),
    async '/metrics'(response) {
      response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text())
    },
  }
  return (request, response) => {
    const path = pathOfTarget(request.url ?? '')
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (answer === undefined) answerJson(response, 404, errorBody(404, `no such path: ${path.slice(0, 200)}`))
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      answerJson(response, 405, errorBody(405, `method: expected GET, saw ${request.method}`))
    } else
      Promise.resolve(answer(response)).catch((error: unknown) => {
        log.error({ error, path }, 'health request failed')
        response.destroy()
      })
  }
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
