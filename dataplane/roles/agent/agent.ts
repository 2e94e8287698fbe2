/** Watches the data plane, and tells its state over HTTP (Spec: Infrastructure agent). */
import { createClusterSummaryReader } from '../../adapters/search/cluster-summary.ts'
import type { SearchConnectionConfig } from '../../adapters/search/transport.ts'
import { STREAM_PROCESS_NAMES } from '../../contract/stream-jobs.ts'
import { startHttpServer } from '../../http/server.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createAgentApi } from './agent-api.ts'
import { readBusState, type TopicKey } from './bus-source.ts'
import { createFlinkSources, createSecretsSource } from './cluster-sources.ts'
import type { ClusterWatch } from './cluster-watch.ts'
import { createDeadLetterReader } from './dead-letter-source.ts'
import type { AgentSources } from './sections.ts'
import { createSource, type Source } from './source.ts'
import { createStreamDiscovery } from './stream-discovery.ts'
import { readStreamJobs, type StreamProcess } from './stream-source.ts'

export interface AgentDeps {
  /** Resolves to the bus, or rejects when it cannot be had just now; called at each reading. */
  readonly bus: () => Promise<Pick<Bus, 'describe' | 'committedOffsets' | 'groupMembers' | 'subscribe' | 'send'>>
  readonly topics: Readonly<Record<TopicKey, string>>
  readonly search: Pick<SearchConnectionConfig, 'endpoint' | 'username' | 'password' | 'caFile'>
  /** The stream processes that are asked at an address; the others are found on the bus. */
  readonly stream: readonly StreamProcess[]
  /** Started and stopped with the agent; undefined: it does not run in a cluster. */
  readonly cluster?: ClusterWatch | undefined
  readonly host: string
  readonly port: number
  /** The setting that the port comes from. */
  readonly portSetting: string
  readonly clock: Clock
  readonly log: Log
}

export interface Agent extends Running {
  readonly port: number
}

const SEARCH_TIMEOUT_MS = 4_000
/** How long the start waits for sources, so that an agent whose sources are up is ready from the first request on. */
const FIRST_ANSWERS_MS = 1_000

/** Watches the data plane and tells of it. A source that is down does not keep it from starting. */
export function startAgent(deps: AgentDeps): Promise<Agent> {
  const { clock, log, cluster } = deps
  const summary = createClusterSummaryReader({ ...deps.search, requestTimeoutMs: SEARCH_TIMEOUT_MS })
  const told = new Set(deps.stream.map(({ name }) => name))
  const names = STREAM_PROCESS_NAMES.filter(name => !told.has(name))
  const discover = createStreamDiscovery({ bus: deps.bus, topics: deps.topics, names, clock })
  const readJobs = async () => [...(await readStreamJobs(deps.stream, { clock })), ...(await discover())]
  const processes = createSource({ name: 'stream', read: readJobs, clock, log })
  const sources: AgentSources = {
    bus: [createSource({ name: 'bus', read: async () => readBusState(await deps.bus(), deps.topics), clock, log })],
    stream: [processes, ...(cluster === undefined ? [] : createFlinkSources(cluster, clock))],
    search: [createSource({ name: 'search', read: () => summary.read(), clock, log })],
    secrets: cluster === undefined ? [] : [createSecretsSource(cluster, clock)],
  }
  const readDeadLetters = createDeadLetterReader(deps.bus, deps.topics.deadLetter)
  const deadLetters = createSource({ name: 'dead letters', read: readDeadLetters, clock, log })
  const watched: readonly Source<unknown>[] = [...Object.values(sources).flat(), deadLetters]
  return startTogether(async keep => {
    keep(summary, reader => reader.close())
    if (cluster !== undefined) keep(cluster).start()
    keep(watched, all => Promise.all(all.map(source => source.stop())))
    for (const source of watched) source.start()
    await firstAnswers(watched, clock)
    const { raw, enriched, anomaly, deadLetter: topic } = deps.topics
    const letters = { bus: deps.bus, topic, origins: new Set([raw, enriched, anomaly]), clock, log }
    const listen = { host: deps.host, port: deps.port, setting: deps.portSetting }
    const { port } = keep(await startHttpServer(createAgentApi({ sources, deadLetters, letters, log }), listen))
    return { port }
  })
}

async function firstAnswers(sources: readonly Source<unknown>[], clock: Clock): Promise<void> {
  const answered = new AbortController()
  await Promise.race([Promise.all(sources.map(source => source.observe())), clock.sleep(FIRST_ANSWERS_MS, answered.signal)])
  answered.abort()
}
