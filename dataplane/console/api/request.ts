/** The one way from the console to the server: JSON in and out, a time limit, and errors as `RequestProblem`. */
import { TENANT_HEADER } from '../../contract/headers.ts'
import { BASE_PATH } from '../url-state/base-path.ts'
import { parseTenant } from '../url-state/tenant.ts'
import { parseJson } from './exact-json.ts'
import { describeFailure, errorOfBody, type Failure, RequestProblem } from './problem.ts'

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: unknown
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** In place of that of the page's URL. */
  readonly tenant?: string | undefined
  /** Whether a body is an answer though its status is one of errors. */
  readonly isAnswer?: (body: unknown) => boolean
}

export interface Answer<T> {
  readonly body: T
  readonly headers: Headers
}

const TIMEOUT_MS = 30_000

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await requestWithHeaders<T>(path, options)).body
}

/** Rejects with `RequestProblem`; with the reason of `signal` where that was aborted. */
export async function requestWithHeaders<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const { method = 'GET', body, query = {}, signal, timeoutMs = TIMEOUT_MS, tenant, isAnswer = () => false } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(BASE_PATH + path + queryText(query), {
      method,
      headers: {
        accept: 'application/json',
        ...(tenant === undefined ? tenantHeader() : { [TENANT_HEADER]: tenant }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    const parsed = parse(await response.text())
    if (!response.ok && !isAnswer(parsed)) throw failed(path, { kind: 'status', status: response.status, error: errorOfBody(parsed) })
    if (parsed === undefined) throw failed(path, { kind: 'unreadable' })
    return { body: parsed as T, headers: response.headers }
  } catch (cause) {
    if (cause instanceof RequestProblem || signal?.aborted) throw cause
    const isChange = method !== 'GET' && !path.startsWith('/api/search')
    throw failed(path, { kind: timeout.aborted ? 'timeout' : 'network', isChange }, cause)
  }
}

/** The tenant of the page's URL. */
function tenantHeader(): Readonly<Record<string, string>> {
  const tenant = parseTenant(window.location.search)
  return tenant === undefined ? {} : { [TENANT_HEADER]: tenant }
}

function failed(path: string, failure: Failure, cause?: unknown): RequestProblem {
  return new RequestProblem(describeFailure(path, failure), { cause })
}

function queryText(query: NonNullable<RequestOptions['query']>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Undefined: not JSON. An empty body is an empty object. */
function parse(text: string): unknown {
  try {
    return text === '' ? {} : parseJson(text)
  } catch {
    return undefined
  }
}
