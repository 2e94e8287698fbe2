/** The sections of the agent's `GET /metrics` (Spec: Infrastructure agent; Decisions 10). */
import type { ClusterSummary } from '../../adapters/search/cluster-summary.ts'
import { formatUptime } from '../../domain/time/duration.ts'
import type { BusState } from './bus-source.ts'
import type { Observation, Source } from './source.ts'
import type { StreamJob } from './stream-source.ts'

export type SectionStatus = 'healthy' | 'degraded' | 'down'

/** A secret that is synchronised from outside the cluster, as its source tells it. */
export interface SyncedSecret {
  readonly name: string
  readonly status: 'SecretSynced' | 'SecretSyncError'
  readonly lastSyncTime: string | null
}

/** The sources of each section. A section without sources is healthy and empty: this installation has nothing of the kind. */
export interface AgentSources {
  readonly bus: readonly [Source<BusState>]
  /** The product's own jobs first, then those of the cluster. */
  readonly stream: readonly [Source<readonly StreamJob[]>, ...Source<readonly StreamJob[]>[]]
  readonly search: readonly [Source<ClusterSummary>]
  readonly secrets: readonly Source<readonly SyncedSecret[]>[]
}

export type SectionName = keyof AgentSources
export const SECTION_NAMES = ['bus', 'stream', 'search', 'secrets'] as const satisfies readonly SectionName[]

export function busSection(seen: Observation<BusState>) {
  const { brokers, topics, missing, problem } = seen.value ?? NO_BUS
  const reason = problem ?? (missing.length > 0 ? `not found, or not read: ${missing.join(', ')}` : undefined)
  const status = statusOf(seen.state, brokers === 0 ? 'down' : reason === undefined ? 'healthy' : 'degraded')
  return { status, brokers, topics, ...(seen.state !== 'unreachable' && reasonOf(reason)) }
}

const NO_BUS: BusState = { brokers: 0, topics: {}, missing: [] }

/** Why the section is not well, as far as its source tells: a field beside those of the specification. */
function reasonOf(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

type JobsSeen = Observation<readonly StreamJob[]>

export function streamSection(seen: readonly [own: JobsSeen, ...ofCluster: JobsSeen[]]) {
  const [own, ...ofCluster] = seen
  const jobs = seen.flatMap(({ value = [] }) => value)
  // That there are no own jobs says nothing of a cluster that cannot be read.
  const hasOwn = own.state !== 'current' || own.value?.length !== 0 || ofCluster.length === 0
  const works = jobs.some(({ state }) => state === 'RUNNING')
  const fails = jobs.some(({ state }) => state === 'FAILED')
  const status = statusOf(together(hasOwn ? seen : ofCluster), jobs.length > 0 && !works ? 'down' : fails ? 'degraded' : 'healthy')
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

export function searchSection(seen: Observation<ClusterSummary>) {
  const { blocked, status, ...figures } = seen.value ?? NO_CLUSTER
  if (seen.state === 'unreachable') return { status: 'red' as const, ...figures }
  return { status: blocked !== undefined && status === 'green' ? ('yellow' as const) : status, ...figures, ...reasonOf(blocked) }
}

export function secretsSection(seen: readonly Observation<readonly SyncedSecret[]>[]) {
  const externalSecrets = seen.flatMap(({ value = [] }) => value)
  const synced = externalSecrets.filter(({ status }) => status === 'SecretSynced').length
  const failing = synced < externalSecrets.length
  return { status: statusOf(together(seen), failing ? (synced === 0 ? 'down' : 'degraded') : 'healthy'), externalSecrets }
}

type ObservationState = Observation<unknown>['state']

/** How far a section of several sources is known. */
function together(seen: readonly Observation<unknown>[]): ObservationState {
  if (seen.every(({ state }) => state === 'current')) return 'current'
  const [first, ...rest] = seen.map(({ state }) => state)
  return rest.every(state => state === first) ? first! : 'stale'
}

/** The status that the state itself gives counts only as far as the state is known. */
function statusOf(state: ObservationState, own: SectionStatus): SectionStatus {
  if (state === 'unreachable') return 'down'
  if (state === 'unknown') return 'degraded'
  return state === 'stale' && own === 'healthy' ? 'degraded' : own
}

export type CollectorState = 'initialized' | 'initializing' | 'error'

/** A collector is initialized once all its sources have answered, or when there are none; a source lost later shows in its section. */
export function collectorState(sources: readonly Source<unknown>[]): CollectorState {
  const missing = sources.map(source => source.last()).filter(({ value }) => value === undefined)
  if (missing.length === 0) return 'initialized'
  return missing.some(({ state }) => state === 'unreachable') ? 'error' : 'initializing'
}
