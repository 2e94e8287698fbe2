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
    /** Why it is not well; not told to a single tenant. */
    readonly reason?: string
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
    /** Why indices cannot be written; not told to a single tenant. */
    readonly reason?: string
  }
  readonly secrets: { readonly status: ComponentHealth; readonly externalSecrets: readonly SyncedSecret[] }
  /** Not told to a single tenant. */
  readonly deadLetters?: { readonly letters: number; readonly oldest: string | null }
}

export function readInfrastructure(signal?: AbortSignal): Promise<InfrastructureMetrics> {
  return request('/api/agent/metrics', { signal })
}

/** A record that a step gave up; without its contents. */
export interface DeadLetter {
  readonly id: string
  readonly time: string
  readonly stage: string
  readonly reason: string
  readonly topic: string
  readonly tenant: string
  readonly service: string
  readonly bytes: number
  /** When it was replayed before it came back. */
  readonly replayed?: string
}

/** The oldest first. */
export async function listDeadLetters(limit: number, signal?: AbortSignal): Promise<readonly DeadLetter[]> {
  const { letters } = await request<{ letters: readonly DeadLetter[] }>('/api/agent/dead-letters', { query: { limit }, signal })
  return letters
}

export interface ReplayAnswer {
  /** By topic. */
  readonly sent: Readonly<Record<string, number>>
  readonly repeated: number
  readonly cut: number
}

const REPLAY_TIMEOUT_MS = 115_000

/** All letters. */
export function replayDeadLetters(): Promise<ReplayAnswer> {
  return request('/api/agent/dead-letters/replay', { method: 'POST', body: {}, timeoutMs: REPLAY_TIMEOUT_MS })
}
