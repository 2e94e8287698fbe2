/** Which headers go on to a back end, and which of its answer go back. */
import type { IncomingHttpHeaders } from 'node:http'
import { namedByConnection, OF_A_CONNECTION } from '../../../upstream/headers.ts'

/** Said to the dashboard alone: what a back end must not learn, or must not act on. */
const FOR_THE_DASHBOARD = ['host', 'expect', 'authorization', 'cookie', 'origin', 'referer', 'x-service-api-key', 'x-service-tenant-id']

/** The dashboard sets these itself, or they would change what a browser does with the dashboard. */
const OF_THE_DASHBOARD = [
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'clear-site-data',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'referrer-policy',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'www-authenticate',
  'x-content-type-options',
  'x-frame-options',
]

export type HeaderValues = Record<string, string | string[]>

export function requestHeaders(headers: IncomingHttpHeaders): HeaderValues {
  return without(headers, FOR_THE_DASHBOARD)
}

export function answerHeaders(headers: IncomingHttpHeaders): HeaderValues {
  return without(headers, OF_THE_DASHBOARD)
}

function without(headers: IncomingHttpHeaders, names: readonly string[]): HeaderValues {
  const dropped = new Set([...OF_A_CONNECTION, ...names, ...namedByConnection(headers.connection)])
  const kept = Object.entries(headers).filter((entry): entry is [string, string | string[]] => {
    const [name, value] = entry
    return value !== undefined && !dropped.has(name)
  })
  return Object.fromEntries(kept)
}
