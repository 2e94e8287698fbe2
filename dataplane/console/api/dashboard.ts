/** The dashboard itself: which back ends answer. */
import { request } from './request.ts'

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

export function readDashboardHealth(signal?: AbortSignal): Promise<DashboardHealth> {
  return request('/health', { signal })
}
