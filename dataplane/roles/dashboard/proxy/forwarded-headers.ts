import type { HeaderPolicy } from '../../../upstream/headers.ts'

/** Said to the dashboard alone: what a back end must not learn, or must not act on. */
const FOR_THE_DASHBOARD = ['authorization', 'cookie', 'origin', 'referer']

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

export const DASHBOARD_HEADERS: HeaderPolicy = { request: new Set(FOR_THE_DASHBOARD), answer: new Set(OF_THE_DASHBOARD) }
