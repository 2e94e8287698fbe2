/** The infrastructure agent (Spec: Infrastructure agent). */
import { request } from './request.ts'

export type ComponentHealth = 'healthy' | 'degraded' | 'down'

export interface StreamJob {
  readonly name: string
  readonly state: 'RUNNING' | 'FAILED' | 'SUSPENDED'
  readonly taskManagers: number
  readonly uptime: string
}

export interface SyncedSecret {
  readonly name: string
  readonly status: 'SecretSynced' | 'SecretSyncError'
  readonly lastSyncTime: string | null
}

export interface InfrastructureMetrics {
  readonly bus: {
    readonly status: ComponentHealth
    readonly brokers: number
    readonly topics: Readonly<Record<string, { readonly partitions: number; readonly consumerLag: number }>>
  }
  readonly stream: { readonly status: ComponentHealth; readonly jobs: readonly StreamJob[] }
  readonly search: {
    readonly status: 'green' | 'yellow' | 'red'
    readonly nodes: number
    readonly indices: number
    readonly totalDocs: number
    readonly totalSizeBytes: number
    readonly activePrimaryShards?: number
    readonly activeShards?: number
  }
  readonly secrets: { readonly status: ComponentHealth; readonly externalSecrets: readonly SyncedSecret[] }
  /** Not told to a single tenant. */
  readonly deadLetters?: { readonly letters: number; readonly oldest: string | null }
}

export function readInfrastructure(signal?: AbortSignal): Promise<InfrastructureMetrics> {
  return request('/api/agent/metrics', { signal })
}

export interface Readiness {
  readonly status: 'ready' | 'not_ready'
  readonly collectors: Readonly<Record<'bus' | 'stream' | 'search' | 'secrets', 'initialized' | 'initializing' | 'error'>>
}
