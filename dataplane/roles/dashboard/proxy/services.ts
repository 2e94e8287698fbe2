/** The services behind the dashboard, by their prefixes (Spec: Access patterns). */
import type { SettingsOf } from '../../../contract/env.ts'

export type ServiceName = 'collector' | 'bridge' | 'search' | 'ticketing' | 'agent' | 'scheduler' | 'features'

export interface ServiceDescription {
  readonly prefix: string
  /** The one path below the prefix that there is; undefined: all. */
  readonly only?: string
  readonly setting: keyof SettingsOf<'dashboard'> & `${string}_ENDPOINT`
  /** In messages to callers. */
  readonly title: string
  /** Path of its health endpoint; any answer shows that it is there. */
  readonly healthPath: string
  /** An installation may do without it. */
  readonly isOptional?: boolean
}

export const SERVICES: Readonly<Record<ServiceName, ServiceDescription>> = {
  collector: { prefix: '/api/otel', only: '/v1/logs', setting: 'COLLECTOR_ENDPOINT', title: 'collector', healthPath: '/v1/logs' },
  bridge: { prefix: '/api/bridge', setting: 'BRIDGE_ENDPOINT', title: 'bridge', healthPath: '/health' },
  search: { prefix: '/api/search', setting: 'SEARCH_ENDPOINT', title: 'search store', healthPath: '/' },
  ticketing: { prefix: '/api/ticketing', setting: 'TICKETING_ENDPOINT', title: 'ticketing agent', healthPath: '/health' },
  agent: { prefix: '/api/agent', setting: 'AGENT_ENDPOINT', title: 'infrastructure agent', healthPath: '/health', isOptional: true },
  scheduler: {
    prefix: '/api/airflow',
    setting: 'SCHEDULER_ENDPOINT',
    title: 'workflow scheduler',
    healthPath: '/health',
    isOptional: true,
  },
  features: { prefix: '/api/features', setting: 'FEATURES_ENDPOINT', title: 'feature store', healthPath: '/health', isOptional: true },
}

export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[]

/** The service of a path, and the path there; undefined: none of them. */
export function findService(path: string): { readonly name: ServiceName; readonly path: string } | undefined {
  const name = SERVICE_NAMES.find(candidate => path === SERVICES[candidate].prefix || path.startsWith(`${SERVICES[candidate].prefix}/`))
  if (name === undefined) return undefined
  const { prefix, only } = SERVICES[name]
  const below = path.slice(prefix.length) || '/'
  return only === undefined || below === only ? { name, path: below } : undefined
}
