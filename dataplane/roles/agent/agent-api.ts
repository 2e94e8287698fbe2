/** The API of the infrastructure agent: health, sections, metrics (Spec: Infrastructure agent). */
import { createControlApp } from '../../http/control-app.ts'
import { type Route, route } from '../../http/route.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { type DeadLetterRouteDeps, deadLetterRoutes } from './dead-letter-routes.ts'
import type { DeadLetterState } from './dead-letter-source.ts'
import { type AgentSources, busSection, collectorState, SECTION_NAMES, searchSection, secretsSection, streamSection } from './sections.ts'
import type { Observation, Source } from './source.ts'

export interface AgentApiDeps {
  readonly sources: AgentSources
  readonly deadLetters: Source<DeadLetterState>
  readonly letters: DeadLetterRouteDeps
  readonly log: Log
}

/** The agent's API (Spec: Infrastructure agent). */
export function createAgentApi({ sources, deadLetters, letters, log }: AgentApiDeps) {
  const routes = [readyRoute(sources), metricsRoute(sources, deadLetters), ...deadLetterRoutes(letters)]
  return createControlApp({ routes, log, metrics: agentMetrics(sources, deadLetters) })
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

/** The four sections, and what lies in the dead-letter queue; the header `age` says how old the oldest of them is, in seconds. */
function metricsRoute(sources: AgentSources, deadLetters: Source<DeadLetterState>): Route {
  return route({
    method: 'GET',
    path: '/metrics',
    async handle({ tenant }) {
      const [{ bus, stream, search, secrets }, lying] = await Promise.all([observeAll(sources), deadLetters.observe()])
      const ownBus = busSection(bus[0])
      const ownSearch = searchSection(search[0])
      const { reason: _whyBus, ...sharedBus } = ownBus
      const { activePrimaryShards: _primaries, activeShards: _shards, reason: _whySearch, ...sharedSearch } = ownSearch
      const ages = [bus, stream, search, secrets].flat().map(({ ageMs }) => ageMs ?? 0)
      return {
        headers: { age: String(Math.floor(Math.max(...ages) / 1_000)) },
        body: {
          bus: tenant === undefined ? ownBus : sharedBus,
          stream: streamSection(stream),
          // Requests through the gateway have a tenant; reasons, shard counts and the letters of all tenants are for direct callers.
          search: tenant === undefined ? ownSearch : sharedSearch,
          secrets: secretsSection(secrets),
          ...(tenant === undefined && { deadLetters: lying.value ?? NOT_KNOWN }),
        },
      }
    },
  })
}

const NOT_KNOWN: DeadLetterState = { letters: 0, oldest: null }

async function observeAll({ bus, stream, search, secrets }: AgentSources) {
  const seen = await Promise.all([observe(bus), observe(stream), observe(search), observe(secrets)])
  return { bus: seen[0], stream: seen[1], search: seen[2], secrets: seen[3] }
}

type Observations<S extends readonly Source<unknown>[]> = { readonly [I in keyof S]: S[I] extends Source<infer T> ? Observation<T> : never }

function observe<S extends readonly Source<unknown>[]>(sources: S): Promise<Observations<S>> {
  return Promise.all(sources.map(source => source.observe())) as Promise<unknown> as Promise<Observations<S>>
}

/** The same for Prometheus, in figures. */
function agentMetrics(sources: AgentSources, deadLetters: Source<DeadLetterState>) {
  const metrics = createMetrics()
  metrics.processMetrics()
  const existing = SECTION_NAMES.filter(name => sources[name].length > 0)
  const observeExisting = () =>
    Promise.all(existing.map(async name => [name, await observe<readonly Source<unknown>[]>(sources[name])] as const))
  metrics.labelledGauge({ name: 'service_agent_source_up', help: 'Whether the sources of the section answer.' }, 'section', async () =>
    (await observeExisting()).map(([name, seen]) => [name, seen.every(({ state }) => state === 'current') ? 1 : 0]),
  )
  metrics.labelledGauge({ name: 'service_agent_source_age_seconds', help: 'Age of what is known of the sources.' }, 'section', async () =>
    (await observeExisting()).flatMap(([name, seen]) => {
      const ages = seen.flatMap(({ ageMs = [] }) => ageMs)
      return ages.length === 0 ? [] : [[name, Math.max(...ages) / 1_000]]
    }),
  )
  metrics.labelledGauge({ name: 'service_agent_consumer_lag', help: 'Records that the slowest reader has not read.' }, 'topic', async () =>
    Object.entries((await sources.bus[0].observe()).value?.topics ?? {}).map(([topic, { consumerLag }]) => [topic, consumerLag]),
  )
  metrics.gauge(
    {
      name: 'service_agent_bus_deleted_early_bytes',
      help: 'Bytes of the embedded bus that every reader had read and that went before their time, since its start.',
    },
    async () => (await sources.bus[0].observe()).value?.deletedEarlyBytes ?? 0,
  )
  metrics.gauge(
    { name: 'service_agent_dead_letters', help: 'Letters that lie in the dead-letter queue.' },
    () => deadLetters.last().value?.letters ?? 0,
  )
  metrics.labelledGauge({ name: 'service_agent_stream_job_running', help: 'Whether the stream job runs.' }, 'job', async () =>
    (await observe(sources.stream)).flatMap(({ value = [] }) =>
      value.map(({ name, state }) => [name, state === 'RUNNING' ? 1 : 0] as const),
    ),
  )
  metrics.labelledGauge({ name: 'service_agent_external_secret_synced', help: 'Whether the ExternalSecret is synced.' }, 'name', async () =>
    (await observe(sources.secrets)).flatMap(({ value = [] }) =>
      value.map(({ name, status }) => [name, status === 'SecretSynced' ? 1 : 0] as const),
    ),
  )
  return metrics
}
