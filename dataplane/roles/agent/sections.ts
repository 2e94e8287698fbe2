/** The sections of the agent's `GET /metrics` (Spec: Infrastructure agent; Decisions 10). */
import type { ClusterSummary } from '../../adapters/search/cluster-summary.ts'
import { formatUptime } from '../../domain/duration.ts'
import type { BusState } from './bus-source.ts'
import type { Observation, Source } from './source.ts'
import type { StreamJob } from './stream-source.ts'

export type ComponentStatus = 'healthy' | 'degraded' | 'down'

/** What a source that keeps externally synchronised secrets tells. */
export interface ExternalSecret {
  readonly name: string
  readonly status: 'SecretSynced' | 'SecretSyncError'
  readonly lastSyncTime: string | null
}

/** Where each section's state comes from; undefined: nothing of the kind exists here, so the section is healthy and empty. */
export interface AgentSources {
  readonly bus: Source<BusState>
  readonly stream: Source<readonly StreamJob[]> | undefined
  readonly search: Source<ClusterSummary>
  readonly secrets: Source<readonly ExternalSecret[]> | undefined
}

export type SectionName = keyof AgentSources
export const SECTION_NAMES = ['bus', 'stream', 'search', 'secrets'] as const satisfies readonly SectionName[]

export function busSection(seen: Observation<BusState>) {
  const { brokers, topics, missing } = seen.value ?? { brokers: 0, topics: {}, missing: [] }
  const status = statusOf(seen, brokers === 0 ? 'down' : missing.length > 0 ? 'degraded' : 'healthy')
  return { status, brokers, topics }
}

export function streamSection(seen: Observation<readonly StreamJob[]>) {
  const jobs = seen.value ?? []
  const works = jobs.some(({ state }) => state === 'RUNNING')
  const fails = jobs.some(({ state }) => state === 'FAILED')
  const status = statusOf(seen, jobs.length > 0 && !works ? 'down' : fails ? 'degraded' : 'healthy')
  return { status, jobs: jobs.map(({ uptimeMs, ...job }) => ({ ...job, uptime: formatUptime(uptimeMs) })) }
}

const NO_CLUSTER: ClusterSummary = {
  status: 'red',
  nodes: 0,
  indices: 0,
  totalDocs: 0,
  totalSizeBytes: 0,
  activePrimaryShards: 0,
  activeShards: 0,
}

export function searchSection(seen: Observation<ClusterSummary>): ClusterSummary {
  return { ...(seen.value ?? NO_CLUSTER), ...(seen.state === 'unreachable' && { status: 'red' as const }) }
}

export function secretsSection(seen: Observation<readonly ExternalSecret[]>) {
  const externalSecrets = seen.value ?? []
  const synced = externalSecrets.filter(({ status }) => status === 'SecretSynced').length
  const failing = synced < externalSecrets.length
  return { status: statusOf(seen, failing ? (synced === 0 ? 'down' : 'degraded') : 'healthy'), externalSecrets }
}

/** The status that the state itself gives counts only as far as the state is known. */
function statusOf({ state }: Observation<unknown>, own: ComponentStatus): ComponentStatus {
  if (state === 'unreachable') return 'down'
  if (state === 'unknown') return 'degraded'
  return state === 'stale' && own === 'healthy' ? 'degraded' : own
}

export type CollectorState = 'initialized' | 'initializing' | 'error'

/** A collector is initialized once its source has answered, or when there is none; a source lost later shows in its section. */
export function collectorState(source: Source<unknown> | undefined): CollectorState {
  if (source === undefined) return 'initialized'
  const { value, state } = source.last()
  if (value !== undefined) return 'initialized'
  return state === 'unreachable' ? 'error' : 'initializing'
}
