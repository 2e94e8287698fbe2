/** The form that asks for the password, and what becomes of a request without one. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBytes } from '../../../http/control-request.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type LoginView, loginPage, RELOAD_PAGE } from './login-page.ts'
import type { PasswordGate } from './password-gate.ts'

const LOGIN_PATH = '/login'
const LOGOUT_PATH = '/logout'
const MAX_FORM_BYTES = 8 * 1024
const MAX_NEXT_LENGTH = 4_096

export interface Login {
  /** Whether the request was answered here: by the form, or by the way to it. Throws `HttpError` 401 to a program without the password. */
  answers(request: IncomingMessage, response: ServerResponse, path: string, query: string): Promise<boolean>
}

export interface LoginConfig {
  /** Browsers come over https, by a proxy. */
  readonly isSecure: boolean
  /** Path below which a proxy serves the dashboard, without a slash at its end. */
  readonly basePath: string
}

export function createLogin(gate: PasswordGate, { isSecure, basePath }: LoginConfig): Login {
  const pageOf = (view: Omit<LoginView, 'action'>) => loginPage({ action: basePath + LOGIN_PATH, ...view })
  const nextOf = (parameters: URLSearchParams) => localPath(parameters.get('next')) ?? `${basePath}/`
  const setCookie = (response: ServerResponse, cookie: string) => response.setHeader('set-cookie', isSecure ? `${cookie}; Secure` : cookie)
  const goTo = (response: ServerResponse, location: string) => {
    response.writeHead(303, { location, 'cache-control': 'no-store', 'content-length': 0 }).end()
  }

  const logIn = async (request: IncomingMessage, response: ServerResponse, query: string): Promise<void> => {
    if (request.method === 'GET' || request.method === 'HEAD')
      return answerPage(request, response, 200, pageOf({ next: nextOf(new URLSearchParams(query)) }))
    const form = await readForm(request)
    const next = nextOf(form)
    try {
      setCookie(response, gate.open(request, { username: form.get('username') ?? '', password: form.get('password') ?? '' }))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
      return answerPage(request, response, error.status, pageOf({ next, problem: error.message }))
    }
    goTo(response, next)
  }

  return {
    async answers(request, response, path, query) {
      if (path === LOGIN_PATH) {
        assertMethod(request, ['GET', 'HEAD', 'POST'])
        await logIn(request, response, query)
        return true
      }
      if (path === LOGOUT_PATH) {
        assertMethod(request, ['POST'])
        setCookie(response, gate.close(request))
        goTo(response, basePath + LOGIN_PATH)
        return true
      }
      if (isAdmitted(gate, request)) return false
      if (!isPageView(request, path)) throw askForPassword(request, 'a user name and a password are needed')
      // Browsers keep the cookie back from a page that another site leads to, and send it with the next one.
      if (request.headers['sec-fetch-site'] === 'cross-site') answerPage(request, response, 401, RELOAD_PAGE)
      else goTo(response, `${basePath}${LOGIN_PATH}?${new URLSearchParams({ next: basePath + path + query })}`)
      return true
    },
  }
}

function isAdmitted(gate: PasswordGate, request: IncomingMessage): boolean {
  try {
    return gate.admits(request)
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) throw askForPassword(request, error.message)
    throw error
  }
}

/** A browser would ask by a window of its own where a page of the console asks for data. */
function askForPassword({ headers }: IncomingMessage, message: string): HttpError {
  const isOfPage = headers['sec-fetch-site'] !== undefined
  return new HttpError(401, message, isOfPage ? {} : { 'www-authenticate': 'Basic realm="logpipeline", charset="UTF-8"' })
}

function isPageView({ method, headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && !path.startsWith('/api/') && (headers.accept ?? '').includes('text/html')
}

/** Undefined for all but paths of this host: the form leads to no other site. */
function localPath(next: string | null): string | undefined {
  return next !== null && next.length <= MAX_NEXT_LENGTH && /^\/(?![/\\])[^\\\u0000-\u0020\u007f-\uffff]*$/.test(next) ? next : undefined
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new HttpError(415, `content-type: expected application/x-www-form-urlencoded, seen ${type || 'none'}`)
  return new URLSearchParams((await readBytes(request, MAX_FORM_BYTES)).toString('utf8'))
}

function assertMethod({ method = '' }: IncomingMessage, allowed: readonly string[]): void {
  if (!allowed.includes(method))
    throw new HttpError(405, `${method} is not allowed here; allowed: ${allowed.join(', ')}`, { allow: allowed.join(', ') })
}

function answerPage({ method }: IncomingMessage, response: ServerResponse, status: number, page: string): void {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-length': Buffer.byteLength(page), 'cache-control': 'no-store' }
  response.writeHead(status, headers).end(method === 'HEAD' ? undefined : page)
}
