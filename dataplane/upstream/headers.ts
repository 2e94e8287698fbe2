/** Which header fields go through the gateway; which are of one connection alone, for every proxy. */
import type { IncomingHttpHeaders } from 'node:http'
import { API_KEY_HEADER, TENANT_HEADER } from '../contract/headers.ts'

/** Of one connection alone (RFC 9110, 7.6.1; RFC 7540, 3.2.1). */
export const OF_A_CONNECTION: ReadonlySet<string> = new Set([
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

/** What a caller may not tell a back end: the gateway says it, or answered it already. */
const SAID_BY_THE_GATEWAY: ReadonlySet<string> = new Set([
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

/** The header fields of a request for a back end, with the tenant that it speaks for. */
export function requestHeaders(headers: IncomingHttpHeaders, tenant: string): Record<string, string | string[]> {
  const named = namedByConnection(headers.connection)
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    // Some servers take an underscore for a dash.
    const plain = name.toLowerCase().replaceAll('_', '-')
    if (value === undefined || name.startsWith(':') || OF_A_CONNECTION.has(plain) || SAID_BY_THE_GATEWAY.has(plain)) continue
    if (plain.startsWith('x-forwarded-') || named.has(plain)) continue
    passed[name] = value
  }
  passed[TENANT_HEADER] = tenant
  return passed
}

/** The header fields of an answer for the caller. */
export function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = namedByConnection(headers.connection)
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(':') && !OF_A_CONNECTION.has(name) && !named.has(name)) passed[name] = value
  return passed
}

/** Names that the header `connection` declares to be of this connection alone, in lower case. */
export function namedByConnection(header: string | undefined): ReadonlySet<string> {
  return new Set((header ?? '').split(',').map(name => name.trim().toLowerCase()))
}
