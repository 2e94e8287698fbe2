/** Keeps pages of other sites from acting through a port that asks for no key: opened in a browser on a machine that reaches the port, they could. */
import type { IncomingMessage } from 'node:http'
import { TENANT_HEADER } from '../contract/headers.ts'
import { HttpError } from './http-error.ts'

const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Throws `HttpError` 403. Browsers send a request without a body, or with one that a form could have, for any page, and name the page's site in it. Programs
 * that are no browser name none. A page can send the tenant's header to another site only if that site allows it, which nothing here does.
 */
export function assertNoOtherSite({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  if (READING.has(method) || headers[TENANT_HEADER] !== undefined || !isOfOtherSite(headers)) return
  throw new HttpError(403, 'origin: expected a program, or a page of this address, seen a page of another site')
}

/**
 * Browsers say `sec-fetch-site` to addresses of this machine and to https; to all others the origin alone. Proxies that keep no host may say
 * `x-forwarded-host`, each behind the last one, which a page can no more send than the tenant's header.
 */
function isOfOtherSite({
  'sec-fetch-site': site,
  origin,
  host = '',
  'x-forwarded-host': forwarded = '',
}: IncomingMessage['headers']): boolean {
  if (site !== undefined) return site === 'cross-site'
  if (origin === undefined) return false
  const from = URL.parse(origin)?.host
  return ![host, ...String(forwarded).split(',')].some(own => own.trim().toLowerCase() === from)
}
