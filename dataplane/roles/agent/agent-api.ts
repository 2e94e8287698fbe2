import { createControlApp } from '../../http/control-app.ts'
import { type Route, route } from '../../http/route.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import {
  type AgentSources,
  busSection,
  collectorState,
  SECTION_NAMES,
  type SectionName,
  searchSection,
  secretsSection,
  streamSection,
} from './sections.ts'
import type { Observation, Source } from './source.ts'

export interface AgentApiDeps {
  readonly sources: AgentSources
  readonly log: Log
}

/** The agent's API (Spec: Infrastructure agent). */
export function createAgentApi({ sources, log }: AgentApiDeps) {
  return createControlApp({ routes: [readyRoute(sources), metricsRoute(sources)], log, metrics: agentMetrics(sources) })
}

function readyRoute(sources: AgentSources): Route {
  return route({
    method: 'GET',
    path: '/ready',
    handle() {
      const collectors = Object.fromEntries(SECTION_NAMES.map(name => [name, collectorState(sources[name])]))
      const ready = Object.values(collectors).every(state => state === 'initialized')
      return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not_ready', collectors } }
    },
  })
}

/** The four sections; the header `age` says how old the oldest of them is, in seconds. */
function metricsRoute(sources: AgentSources): Route {
  return route({
    method: 'GET',
    path: '/metrics',
    async handle({ tenant }) {
      const { bus, stream, search, secrets } = await observeAll(sources)
      const { activePrimaryShards, activeShards, ...shared } = searchSection(search)
      const ages = [bus, stream, search, secrets].map(({ ageMs }) => ageMs ?? 0)
      return {
        headers: { age: String(Math.floor(Math.max(...ages) / 1_000)) },
        body: {
          bus: busSection(bus),
          stream: streamSection(stream),
          // What the gateway passes on has a tenant; the shard counts are for direct callers.
          search: tenant === undefined ? { ...shared, activePrimaryShards, activeShards } : shared,
          secrets: secretsSection(secrets),
        },
      }
    },
  })
}

type Observations = { readonly [K in SectionName]: NonNullable<AgentSources[K]> extends Source<infer T> ? Observation<T> : never }

async function observeAll({ bus, stream, search, secrets }: AgentSources): Promise<Observations> {
  const seen = await Promise.all([bus.observe(), observeList(stream), search.observe(), observeList(secrets)])
  return { bus: seen[0], stream: seen[1], search: seen[2], secrets: seen[3] }
}

async function observeList<T>(source: Source<readonly T[]> | undefined): Promise<Observation<readonly T[]>> {
  return source === undefined ? { state: 'current', value: [], ageMs: 0 } : await source.observe()
}

/** The same for Prometheus, in figures. */
function agentMetrics(sources: AgentSources) {
  const metrics = createMetrics()
  metrics.processMetrics()
  const existing = SECTION_NAMES.flatMap(name => (sources[name] === undefined ? [] : [[name, sources[name] as Source<unknown>] as const]))
  const observeExisting = () => Promise.all(existing.map(async ([name, source]) => [name, await source.observe()] as const))
  metrics.labelledGauge({ name: 'service_agent_source_up', help: 'Whether the source of the section answers.' }, 'section', async () =>
    (await observeExisting()).map(([name, { state }]) => [name, state === 'current' ? 1 : 0]),
  )
  metrics.labelledGauge({ name: 'service_agent_source_age_seconds', help: 'Age of what is known of the source.' }, 'section', async () =>
    (await observeExisting()).flatMap(([name, { ageMs }]) => (ageMs === undefined ? [] : [[name, ageMs / 1_000]])),
  )
  metrics.labelledGauge({ name: 'service_agent_consumer_lag', help: 'Records that the slowest reader has not read.' }, 'topic', async () =>
    Object.entries((await sources.bus.observe()).value?.topics ?? {}).map(([topic, { consumerLag }]) => [topic, consumerLag]),
  )
  metrics.labelledGauge({ name: 'service_agent_stream_job_running', help: 'Whether the stream job runs.' }, 'job', async () =>
    ((await observeList(sources.stream)).value ?? []).map(({ name, state }) => [name, state === 'RUNNING' ? 1 : 0]),
  )
  return metrics
}
