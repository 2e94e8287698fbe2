/** Serves one stub platform: its routes, its page at `/`, and below `/_stub` what arrived and which faults are to come. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { HttpError } from '../../http/http-error.ts'
import { type BodyErrors, parseJson, readBody } from '../../http/request-body.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FaultInput, RequestFault } from './faults.ts'
import { html, type NavLink, PAGE_HEADERS, page, when } from './html.ts'
import { append } from './newest.ts'
import { createPlatformCalls, type Outcome, RESET, routeName } from './platform-calls.ts'
import { matchPath, type StubAnswer, type StubPlatform, type StubRequest, type StubRoute } from './stub-platform.ts'

export interface StubServerDeps {
  readonly clock: Clock
  /** Links that all pages have; asked for when a page is shown, since ports are known only then. */
  nav(): readonly NavLink[]
  /** Called once a request is done and before it is answered; `POST /v2/alerts`. */
  onDone(request: string): void | Promise<void>
}

export interface StubServer {
  readonly listener: RequestListener
  /** The problem as a text when the fault is none. */
  addFault(fault: FaultInput): string | undefined
  state(): object
  /** For requests that come by other ways than HTTP. */
  takeFault(route: string, isChange: boolean): RequestFault | undefined
  record(request: string): Promise<void>
  /** Ends stalls. */
  stop(): void
}

export const MAX_BODY_BYTES = 1024 * 1024
const MAX_BODY_DEPTH = 200

const BODY_ERRORS: BodyErrors = {
  tooLarge: maxBytes => new HttpError(413, `the body may have ${maxBytes} bytes`, { connection: 'close' }),
  cutShort: () => new HttpError(400, 'the body is incomplete'),
}
const notJson = () => new HttpError(400, 'expected JSON')
const JSON_ERRORS = { tooDeep: notJson, notUtf8: notJson, notJson }

interface SeenRequest {
  readonly at: string
  readonly request: string
  /** Status of the answer; 0 without an answer, undefined where answers have no status. */
  readonly status: number | undefined
}

export function createStubServer(platform: StubPlatform, deps: StubServerDeps): StubServer {
  const { clock } = deps
  const calls = createPlatformCalls(platform, clock)
  const seen: SeenRequest[] = []

  const state = () => ({
    platform: platform.title,
    ...calls.counts(),
    faults: calls.waitingFaults(),
    routes: platform.routes.map(routeName),
    lastRequests: [...seen].reverse(),
    ...platform.state(),
  })

  const own: readonly StubRoute[] = [
    { method: 'GET', path: '/', handle: () => ({ headers: PAGE_HEADERS, body: showPage(platform, deps.nav(), seen) }) },
    { method: 'GET', path: '/_stub/state', handle: () => ({ body: state() }) },
    {
      method: 'DELETE',
      path: '/_stub/state',
      handle() {
        platform.clear()
        calls.clear()
        seen.length = 0
        return { status: 204 }
      },
    },
    {
      method: 'POST',
      path: '/_stub/faults',
      handle({ json }) {
        const problem = calls.addFault(json)
        return problem === undefined
          ? { status: 201, body: { faults: calls.waitingFaults() } }
          : { status: 400, body: { error: problem, status: 400 } }
      },
    },
  ]

  const serve = async (incoming: IncomingMessage): Promise<Outcome> => {
    const url = new URL(incoming.url ?? '/', 'http://stub')
    const method = incoming.method === 'HEAD' ? 'GET' : incoming.method
    const bytes = await readBody(incoming, { maxBytes: MAX_BODY_BYTES, errors: BODY_ERRORS })
    for (const [routes, call] of [
      [own, (route: StubRoute, request: StubRequest) => route.handle(request)] as const,
      [platform.routes, calls.call] as const,
    ])
      for (const route of routes) {
        const params = route.method === method ? matchPath(route.path, url.pathname) : undefined
        if (params === undefined) continue
        return await call(route, {
          route: route.path,
          params,
          query: url.searchParams,
          headers: incoming.headers,
          text: bytes.toString('utf8'),
          json: jsonOf(bytes),
          origin: `http://${incoming.headers.host}`,
        })
      }
    return platform.refuse(404)
  }

  const record = async (request: string, status: number | undefined) => {
    append(seen, { at: new Date(clock.nowMs()).toISOString(), request: request.slice(0, 500), status })
    await deps.onDone(request)
  }

  const listener = async (incoming: IncomingMessage, response: ServerResponse) => {
    const outcome = await serve(incoming).catch(refusalOf)
    const path = (incoming.url ?? '/').split('?', 1)[0]!
    if (path !== '/' && !path.startsWith('/_stub'))
      await record(`${incoming.method} ${path}`, outcome === RESET ? 0 : (outcome.status ?? 200))
    if (outcome === RESET) incoming.socket.resetAndDestroy()
    else send(response, outcome)
  }

  return {
    listener: (incoming, response) => void listener(incoming, response),
    addFault: calls.addFault,
    state,
    takeFault: calls.takeFault,
    record(command) {
      calls.count()
      return record(command, undefined)
    },
    stop: calls.stop,
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes, MAX_BODY_DEPTH, JSON_ERRORS)
  } catch {
    return undefined
  }
}

function refusalOf(error: unknown): StubAnswer {
  const { status, headers, message } = error instanceof HttpError ? error : new HttpError(500, String(error))
  return { status, headers, body: { error: message, status } }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: StubAnswer): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  response.writeHead(status, { ...(body !== undefined && { 'content-type': type }), ...headers, 'cache-control': 'no-store' })
  response.end(text)
}

function showPage(platform: StubPlatform, nav: readonly NavLink[], seen: readonly SeenRequest[]): string {
  const rows = [...seen]
    .reverse()
    .map(({ at, request, status }) => html`<tr><td>${when(at)}</td><td>${request}</td><td>${status === 0 ? 'no answer' : status}</td></tr>`)
  const footer = html`<details><summary>The last requests (${rows.length})</summary><table>${rows}</table></details>
<p><a href="/_stub/state">State as JSON</a></p>`
  const shown = platform.page()
  const main = shown.html === '' ? html`<p>Nothing arrived yet.</p>` : shown
  return page({ title: platform.title, nav, main, footer })
}
