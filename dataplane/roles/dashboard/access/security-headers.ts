/** Headers of every answer: what a browser may do with it. */
import type { ServerResponse } from 'node:http'

/** Styles may stand in the page, which the console's components need; scripts may not. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** An answer of a back end is data: shown as a page it can do nothing. */
const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Other sites are told nothing. With `no-referrer` browsers name no origin of a form either, and the login is one.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

export function setSecurityHeaders(response: ServerResponse, path: string | undefined): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
  const isPage = path?.startsWith('/api/') === false
  response.setHeader('content-security-policy', isPage ? PAGE_POLICY : DATA_POLICY)
  // No browser and no proxy keeps the data of a user who logged in, or of one tenant.
  if (!isPage) response.setHeader('cache-control', 'no-store')
}
