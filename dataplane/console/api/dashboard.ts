/** The dashboard itself: who is logged in, which back ends answer. */
import { request, requestWithHeaders } from './request.ts'
import { noteServerTime } from './server-clock.ts'

export interface DashboardHealth {
  readonly status: 'ok'
  readonly backends: Readonly<Record<string, 'connected' | 'disconnected' | 'not configured'>>
}

const TITLES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    search: 'search store',
    ticketing: 'ticketing agent',
    agent: 'infrastructure agent',
    scheduler: 'workflow scheduler',
    features: 'feature store',
  }),
)

/** A back end as messages call it. */
export function titleOfBackend(name: string): string {
  return TITLES.get(name) ?? name
}

/** `username`: null where nobody is asked for a password. */
export interface Session {
  readonly username: string | null
}

/** Learns the server's time, too. */
export async function readSession(signal?: AbortSignal): Promise<Session> {
  const sentMs = Date.now()
  const { body, headers } = await requestWithHeaders<Session>('/api/session', { signal })
  noteServerTime({ dateMs: Date.parse(headers.get('date') ?? ''), sentMs, receivedMs: Date.now() })
  return body
}

export function readDashboardHealth(signal?: AbortSignal): Promise<DashboardHealth> {
  return request('/health', { signal })
}
