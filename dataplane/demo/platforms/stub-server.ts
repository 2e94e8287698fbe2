/** Serves one stub platform: its routes, its page at `/`, and below `/_stub` what arrived and which faults are to come. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { HttpError } from '../../http/http-error.ts'
import { type BodyErrors, parseJson, readBody } from '../../http/request-body.ts'
import type { Clock } from '../../ports/clock.ts'
import { createFaultQueue, type FaultInput, MAX_FAULTS, parseFault, type RequestFault } from './faults.ts'
import { html, type NavLink, PAGE_HEADERS, page, when } from './html.ts'
import { append } from './newest.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
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

/** Instead of an answer. */
const RESET = Symbol('reset')
type Outcome = StubAnswer | typeof RESET

interface SeenRequest {
  readonly at: string
  readonly request: string
  /** Status of the answer; 0 without an answer, undefined where answers have no status. */
  readonly status: number | undefined
}

export function createStubServer(platform: StubPlatform, deps: StubServerDeps): StubServer {
  const { clock } = deps
  const faults = createFaultQueue()
  const stopped = new AbortController()
  const seen: SeenRequest[] = []
  let requests = 0
  let limited = 0
  let limiter: RateLimiter | undefined = platform.rateLimit && createRateLimiter(platform.rateLimit, clock.nowMs)

  const addFault = (value: unknown): string | undefined => {
    const fault = parseFault(value)
    if (typeof fault === 'string') return fault
    if (fault.kind === 'limit') {
      limiter = createRateLimiter(fault, clock.nowMs)
      return undefined
    }
    if (fault.kind !== 'own') return faults.add(fault) ? undefined : `at most ${MAX_FAULTS} faults may wait`
    const { ownFaults = {} } = platform
    const own = Object.hasOwn(ownFaults, fault.name) ? ownFaults[fault.name] : undefined
    if (own === undefined) return `name: expected one of ${Object.keys(ownFaults).join(', ') || '(none)'}, seen ${fault.name}`
    own(fault.value, fault.times)
    return undefined
  }

  const state = () => ({
    platform: platform.title,
    requests,
    /** Answered 429 because the caller sent too many. */
    limited,
    faults: faults.waiting(),
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
        faults.clear()
        seen.length = 0
        requests = limited = 0
        return { status: 204 }
      },
    },
    {
      method: 'POST',
      path: '/_stub/faults',
      handle({ json }) {
        const problem = addFault(json)
        return problem === undefined
          ? { status: 201, body: { faults: faults.waiting() } }
          : { status: 400, body: { error: problem, status: 400 } }
      },
    },
  ]

  const callPlatform = async (route: StubRoute, request: StubRequest): Promise<Outcome> => {
    requests += 1
    const refusal = platform.refuseCaller?.(request)
    if (refusal !== undefined) return refusal
    const waitMs = limiter?.waitMs(platform.rateLimit?.callerOf(request) ?? '') ?? 0
    if (waitMs > 0) {
      limited += 1
      return tooMany(platform, String(Math.ceil(waitMs / 1_000)))
    }
    const fault = faults.take(routeName(route), route.method !== 'GET')
    const accept = async () => await route.handle(request)
    return fault === undefined ? accept() : meet(fault, accept)
  }

  const meet = async (fault: RequestFault, accept: () => Promise<StubAnswer>): Promise<Outcome> => {
    if ('afterAccepting' in fault && fault.afterAccepting) await accept()
    switch (fault.kind) {
      case 'status':
        return fault.text === undefined ? platform.refuse(fault.status) : { status: fault.status, body: fault.text }
      case 'rate-limit':
        return tooMany(platform, retryAfter(fault, clock.nowMs()))
      case 'reset':
        return RESET
      case 'stall':
        await clock.sleep(fault.ms, stopped.signal)
        return fault.afterAccepting ? platform.refuse(504) : accept()
      case 'html':
        return { headers: { 'content-type': 'text/html' }, body: '<html><body>Your instance is hibernating.</body></html>' }
    }
  }

  const serve = async (incoming: IncomingMessage): Promise<Outcome> => {
    const url = new URL(incoming.url ?? '/', 'http://stub')
    const method = incoming.method === 'HEAD' ? 'GET' : incoming.method
    const bytes = await readBody(incoming, { maxBytes: MAX_BODY_BYTES, errors: BODY_ERRORS })
    for (const [routes, call] of [
      [own, (route: StubRoute, request: StubRequest) => route.handle(request)] as const,
      [platform.routes, callPlatform] as const,
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
    addFault,
    state,
    takeFault: faults.take,
    record(command) {
      requests += 1
      return record(command, undefined)
    },
    stop: () => stopped.abort(),
  }
}

const routeName = ({ method, path }: StubRoute) => `${method} ${path}`

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes, MAX_BODY_DEPTH, JSON_ERRORS)
  } catch {
    return undefined
  }
}

function tooMany(platform: StubPlatform, after: string | undefined): StubAnswer {
  const answer = platform.refuse(429)
  return after === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': after } }
}

function retryAfter({ retryAfter, seconds }: Extract<RequestFault, { kind: 'rate-limit' }>, nowMs: number): string | undefined {
  if (retryAfter === 'absent') return undefined
  return retryAfter === 'seconds' ? String(seconds) : new Date(nowMs + seconds * 1_000).toUTCString()
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
