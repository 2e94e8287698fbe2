/** Keeps other sites, opened in the same browser, from acting through the dashboard or reading from it (Decisions 7). */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { HttpError } from '../../../http/http-error.ts'

export interface OriginConfig {
  /** The URL under which users open the console, where it is known. */
  readonly publicUrl: string | undefined
  /** The address that the dashboard listens on. */
  readonly host: string
}

const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])
const TRUSTED_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

const OTHER_SITE =
  'origin: expected a page of this dashboard, seen another site; where a proxy in front changes the host, PUBLIC_URL has to name that of the pages'

/**
 * Throws `HttpError` 403. A client that is no browser names no origin and passes. No page can set `sec-fetch-site`: `same-origin` counts where a proxy has changed
 * the host, and where the origin is `null`, as it is of a form in a browser that is set to send no referrers.
 */
export function assertOwnOrigin(request: IncomingMessage, { publicUrl, host }: OriginConfig): void {
  const own = request.headers.host?.toLowerCase() ?? ''
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host
  if (isLoopback(host) && own !== publicHost && !isLocalName(own))
    throw new HttpError(403, 'host: expected localhost or the host of PUBLIC_URL, since the dashboard listens on this machine alone')
  if (READING.has(request.method)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  const isTrusted =
    origin === undefined
      ? site === undefined || TRUSTED_SITES.has(String(site))
      : site === 'same-origin' || isSameHost(origin, own) || (publicHost !== undefined && isSameHost(origin, publicHost))
  if (!isTrusted) throw new HttpError(403, OTHER_SITE)
}

function isSameHost(origin: string, host: string): boolean {
  return URL.parse(origin)?.host === host
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** A name that other people's domain servers cannot give to this machine: an address, or `localhost`. */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return name === '' || name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0
}
