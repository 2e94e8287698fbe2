/** Which header fields go through a proxy, and which are of one connection alone. */
import type { IncomingHttpHeaders } from 'node:http'
import { ADDED_BYTES_HEADER, API_KEY_HEADER, TENANT_HEADER } from '../contract/headers.ts'

/** Fields of one connection alone (RFC 9110, 7.6.1; RFC 7540, 3.2.1). */
const OF_A_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Header fields that a caller may not pass to a back end: the proxy sets them, or has answered them already. */
const SAID_BY_THE_PROXY: ReadonlySet<string> = new Set([
  ADDED_BYTES_HEADER,
  API_KEY_HEADER,
  TENANT_HEADER,
  'content-length',
  'expect',
  'forwarded',
  'host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
])

/** The same of answers: whom an answer is for, caches on the way cannot tell. The proxy says that none keeps it. */
const SAID_TO_CACHES: ReadonlySet<string> = new Set(['age', 'cache-control', 'expires'])

export type HeaderValues = Record<string, string | string[]>

/** Header fields that stay behind at a proxy beside those that always do, in lower case. */
export interface HeaderPolicy {
  readonly request: ReadonlySet<string>
  readonly answer: ReadonlySet<string>
}

const NOTHING_MORE: HeaderPolicy = { request: new Set(), answer: new Set() }

/** The header fields of a request for a back end, with the tenant that it speaks for. */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  tenant: string | undefined,
  policy = NOTHING_MORE,
): Record<string, string | string[] | undefined> {
  const named = namedByConnection(headers.connection)
  const passed: Record<string, string | string[] | undefined> = {}
  for (const [name, value] of Object.entries(headers)) {
    // Some servers take an underscore for a dash.
    const plain = name.toLowerCase().replaceAll('_', '-')
    if (value === undefined || name.startsWith(':') || OF_A_CONNECTION.has(plain) || SAID_BY_THE_PROXY.has(plain)) continue
    if (plain.startsWith('x-forwarded-') || named.has(plain) || policy.request.has(plain)) continue
    passed[name] = value
  }
  if (tenant !== undefined) passed[TENANT_HEADER] = tenant
  return passed
}

/** The header fields of an answer for the caller. */
export function answerHeaders(headers: IncomingHttpHeaders, policy = NOTHING_MORE): HeaderValues {
  const named = namedByConnection(headers.connection)
  const passed: HeaderValues = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':') || OF_A_CONNECTION.has(name) || SAID_TO_CACHES.has(name)) continue
    if (named.has(name) || policy.answer.has(name)) continue
    passed[name] = value
  }
  return passed
}

/** Names that the header `connection` declares to be of this connection alone, in lower case. */
function namedByConnection(header: string | string[] | undefined): ReadonlySet<string> {
  return header === undefined
    ? NO_NAMES
    : new Set(
        String(header)
          .split(',')
          .map(name => name.trim().toLowerCase()),
      )
}

const NO_NAMES: ReadonlySet<string> = new Set()
