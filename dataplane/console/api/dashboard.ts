/** The dashboard itself: which back ends answer. */
import { request } from './request.ts'

export interface DashboardHealth {
  readonly status: 'ok'
  readonly backends: Readonly<Record<string, 'connected' | 'disconnected' | 'not configured'>>
}

export function readDashboardHealth(signal?: AbortSignal): Promise<DashboardHealth> {
  return request('/health', { signal })
}
