/** Keeps other sites, opened in the same browser, from acting through the dashboard or reading from it (Decisions 7). */
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../../../http/http-error.ts'
import { isLoopback, isNameOfOthers, isOfOtherSite, READING } from '../../../http/other-site.ts'

export interface OriginConfig {
  /** The URL under which users open the console, where it is known. */
  readonly publicUrl: string | undefined
  /** The address that the dashboard listens on. */
  readonly host: string
}

const SITES: ReadonlySet<string> = new Set(['same-origin'])

const OTHER_SITE =
  'origin: expected a page of this dashboard, seen another site; where a proxy in front changes the host, PUBLIC_URL has to name that of the pages'

/** Throws `HttpError` 403. On this machine alone, a name of others may not even read: its pages would get the answers. */
export function assertOwnOrigin({ method, headers }: IncomingMessage, { publicUrl, host }: OriginConfig): void {
  const hosts = publicUrl === undefined ? [] : [new URL(publicUrl).host]
  if (isLoopback(host) && isNameOfOthers(headers, hosts))
    throw new HttpError(403, 'host: expected localhost or the host of PUBLIC_URL, since the dashboard listens on this machine alone')
  if (!READING.has(method) && isOfOtherSite(headers, { hosts, sites: SITES })) throw new HttpError(403, OTHER_SITE)
}
