/**
 * Keeps pages of other sites from acting through a port (Decisions 7): opened in a browser on a machine that reaches the port, they could. Programs that are no
 * browser name no site, and pass.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { TENANT_HEADER } from '../contract/headers.ts'
import { HttpError } from './http-error.ts'

/** A browser sends them for any page, and keeps the answer from pages of other sites. */
export const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** How a server tells its own pages from others. */
export interface OwnPages {
  /** Hosts that its pages are opened under, beside the one that the request names. */
  readonly hosts: readonly (string | undefined)[]
  /** The values of `sec-fetch-site` that are enough by themselves. */
  readonly sites: ReadonlySet<string>
}

/**
 * No page can set `sec-fetch-site`, which counts where a proxy has changed the host, and where the origin is `null`, as it is of a form in a browser that sends no
 * referrers. Browsers send it to https and to addresses of this machine, and the origin alone to all others.
 */
export function isOfOtherSite({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders, { hosts, sites }: OwnPages): boolean {
  if (site !== undefined && sites.has(site)) return false
  // `none`: no page asked, but the user.
  if (site !== undefined && site !== 'none') return true
  if (origin === undefined) return false
  const from = URL.parse(origin)?.host
  return from === undefined || ![host, ...hosts].some(own => own?.toLowerCase() === from)
}

/**
 * Whether domain servers of others may have led a caller to this machine (DNS rebinding). To its browser, a page under such a name is no other site.
 * `ownHosts` are names with their ports that users of this machine gave.
 */
export function isNameOfOthers({ host = '' }: IncomingHttpHeaders, ownHosts: readonly (string | undefined)[]): boolean {
  const named = host.toLowerCase()
  return !ownHosts.includes(named) && !isLocalName(named)
}

/** An address, or `localhost`. */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return name === '' || name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0
}

/** A name or an address that leads to this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.replace(/^::ffff:/, '').startsWith('127.')
}

type Asked = Pick<IncomingMessage, 'method' | 'headers'> & { readonly socket: Pick<IncomingMessage['socket'], 'localAddress'> }

const SITES: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])

/**
 * For ports that ask for no key. Throws `HttpError` 403. A page can send the tenant's header, or `x-forwarded-host` as proxies say it that keep no host, to
 * another site only if that site allows it, which nothing here does.
 */
export function assertNoOtherSite(request: Asked): void {
  const { method, headers } = request
  if (READING.has(method)) return
  if (isLedHere(request)) throw new HttpError(403, LED_HERE)
  if (headers[TENANT_HEADER] !== undefined) return
  // Each proxy adds its own behind that of the last one.
  const forwarded = String(headers['x-forwarded-host'] ?? '').match(/[^,\s]+/g) ?? []
  if (isOfOtherSite(headers, { hosts: forwarded, sites: SITES }))
    throw new HttpError(403, 'origin: expected a program, or a page of this address, seen a page of another site')
}

export const LED_HERE =
  'host: expected localhost or an address, as a page of another site may have led its name here; a proxy on this machine has to send one of them, and its own host as X-Forwarded-Host'

/** Whether a page is under a name of others that leads to this machine. Such a name has no certificate, and browsers send it no `sec-fetch-site`. */
export function isLedHere({ headers, socket }: Asked): boolean {
  const isPage = headers.origin !== undefined && headers['sec-fetch-site'] === undefined
  return isPage && isLoopback(socket.localAddress ?? '') && isNameOfOthers(headers, [])
}
