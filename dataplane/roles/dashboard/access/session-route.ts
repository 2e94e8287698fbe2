import { type Route, route } from '../../../http/route.ts'
import type { Credentials } from './password-gate.ts'

/** Tells the console who is logged in; null where the dashboard asks nobody, and there is nothing to log out of. */
export function sessionRoute(credentials: Credentials | undefined): Route {
  const username = credentials?.username ?? null
  return route({ method: 'GET', path: '/api/session', handle: () => ({ headers: { 'cache-control': 'no-store' }, body: { username } }) })
}
