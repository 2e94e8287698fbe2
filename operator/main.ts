/** The role `operator`: wires clients, cache, controllers, leader election, health and metrics. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { ConfigError } from '../dataplane/config/environment.ts'
import { version } from '../dataplane/config/version.ts'
import type { SettingsOf } from '../dataplane/contract/env.ts'
import { OPERATOR_NAME } from '../dataplane/contract/operator-name.ts'
import { namesIn } from '../dataplane/contract/setting.ts'
import type { ClusterAccess } from '../dataplane/kube/cluster-access.ts'
import { loadClusterAccess, podEnvironment, settingProblem } from '../dataplane/kube/find-access.ts'
import { createHttpKubeClient } from '../dataplane/kube/http-client.ts'
import { createObjectCache, type ObjectCache } from '../dataplane/kube/informers/object-cache.ts'
import { createServedKinds } from '../dataplane/kube/informers/served-kinds.ts'
import type { KubeClient } from '../dataplane/kube/kube-client.ts'
import { KubeconfigError } from '../dataplane/kube/kubeconfig.ts'
import { createRateLimit, type RateLimit, type RateLimitConfig } from '../dataplane/kube/rate-limit.ts'
import { qualifiedName } from '../dataplane/kube/resource.ts'
import type { Clock } from '../dataplane/ports/clock.ts'
import type { Log } from '../dataplane/telemetry/log.ts'
import type { LogPipeline } from './api/log-pipeline.ts'
import { PRODUCT } from './api/names.ts'
import { conditionOf } from './api/status.ts'
import { CACHED_KINDS, LOG_PIPELINES, OPTIONAL_KINDS } from './controllers/kinds.ts'
import { createControllers } from './controllers/start-controllers.ts'
import { createConcurrencyLimit } from './runtime/concurrency-limit.ts'
import { createEventRecorder } from './runtime/event-recorder.ts'
import { type Checks, startHealthServer } from './runtime/health-server.ts'
import { createLeaderElection, type LeaderElection } from './runtime/leader-election.ts'
import { createOperatorMetrics, type OperatorMetrics } from './runtime/operator-metrics.ts'
import { createSteadyClock } from './runtime/steady-clock.ts'

const RATE: RateLimitConfig = { perSecond: 50, burst: 100 }
/** For leader election, and for events. */
const SIDE_RATE: RateLimitConfig = { perSecond: 5, burst: 25 }
/** All requests have time limits: work that takes longer hangs. */
const HANGS_MS = 15 * 60_000
/** How long work under way may go on once the operator is asked to stop. */
const GRACE_MS = 10_000

export interface OperatorContext {
  readonly settings: SettingsOf<'operator'>
  readonly log: Log
  readonly clock: Clock
  /** Default: by the settings, else by what Kubernetes puts into each pod. */
  readonly access?: ClusterAccess
  readonly random?: () => number
  /** For leader election: does not jump when the machine's time is set. */
  readonly steadyClock?: Clock
}

export interface RunningOperator {
  /** The port of health and metrics. */
  readonly port: number
  stop(): Promise<void>
  /** Rejects when the lead is lost: another may be at work already. */
  readonly failed: Promise<never>
}

export async function start(context: OperatorContext): Promise<RunningOperator> {
  const { settings, log, clock } = context
  const access = context.access ?? findAccess(settings)
  const instance = settings.POD_NAME ?? hostname()
  const metrics = createOperatorMetrics()
  const elects = settings.LEADER_ELECTION === 'true'
  // A process that stood still for a while must not write what it meant to before.
  const mayWrite = () => !elects || election.surelyLeads
  const clients = createClients(access, context, metrics, mayWrite)
  const { cache, recorder, servedKinds, controllers } = createWork(context, clients, metrics, instance)
  const election = createElection(context, clients, metrics, { namespace: access.namespace, instance })
  // Requests under way must not meet the work of the new leader.
  election.lost.catch(() => Promise.all([clients.client.close(), clients.events.close()]))
  metrics.gauge('logpipeline_operator_pipelines', 'LogPipelines by their condition Ready', 'ready', () => countByReady(cache))
  const server = await startHealthServer(
    { host: settings.HOST, port: settings.PORT, setting: 'PORT' },
    { live: { controllers: () => describeHang(controllers.longestMs()) }, ready: readyChecks(cache), metrics },
  )

  const stopping = Promise.withResolvers<'stop'>()
  cache.start()
  if (elects) {
    metrics.leads(settings.LEASE_NAME, false)
    election.start()
  }
  log.info({ server: access.server, namespaces: settings.WATCH_NAMESPACES, port: server.port }, 'operator started')
  // A standby keeps its cache warm, so that it can take over at once.
  const caughtUp = Promise.all([cache.synced, servedKinds.start()])
  const begun = waitUntil([caughtUp, elects ? election.acquired : undefined], stopping.promise).then(isTime => {
    if (isTime) controllers.start()
  })

  return {
    port: server.port,
    failed: election.lost,
    async stop() {
      stopping.resolve('stop')
      await begun
      await withGrace(controllers.stop(), clock, () => clients.client.close())
      await Promise.all([servedKinds.stop(), cache.stop(), recorder.stop()])
      // Last: the next leader must not meet work of this one.
      await election.stop()
      await Promise.all([clients.close(), server.stop()])
    },
  }
}

/** Throws `ConfigError` without a cluster, and for a kubeconfig that cannot be used. */
function findAccess({ KUBECONFIG }: SettingsOf<'operator'>): ClusterAccess {
  try {
    return loadClusterAccess({ ...podEnvironment(), KUBECONFIG })
  } catch (error) {
    throw error instanceof KubeconfigError ? new ConfigError([settingProblem(error)]) : error
  }
}

/** The controllers, and what they know the cluster by. */
function createWork(context: OperatorContext, clients: Clients, metrics: OperatorMetrics, instance: string) {
  const { settings, log, clock, random = Math.random } = context
  const { client } = clients
  const cache = createObjectCache(
    { kinds: CACHED_KINDS, namespaces: namesIn(settings.WATCH_NAMESPACES) },
    { client, clock, log, random, onRestart: (resource, reason) => metrics.watchRestarted(qualifiedName(resource), reason) },
  )
  const recorder = createEventRecorder(
    { controller: `logpipeline.dev/${OPERATOR_NAME}`, instance },
    { client: clients.events, clock, log, onDropped: metrics.eventDropped },
  )
  const servedKinds = createServedKinds(OPTIONAL_KINDS, { client, clock, log, cache, onChange: () => controllers.lookAgain() })
  const controllers = createControllers({
    ...{ client, cache, recorder, metrics, clock, log, random },
    hasRoom: clients.hasRoom,
    served: servedKinds.current,
    settings: {
      image: settings.OPERATOR_IMAGE ?? `${PRODUCT}:${version}`,
      ...(settings.POD_NAMESPACE !== undefined && { namespace: settings.POD_NAMESPACE }),
    },
  })
  return { cache, recorder, servedKinds, controllers }
}

function createElection(
  { settings, log, clock, steadyClock = createSteadyClock(clock), random = Math.random }: OperatorContext,
  { lease }: Clients,
  metrics: OperatorMetrics,
  { namespace, instance }: { readonly namespace: string; readonly instance: string },
): LeaderElection {
  return createLeaderElection(
    {
      namespace: settings.POD_NAMESPACE ?? namespace,
      name: settings.LEASE_NAME,
      identity: `${instance}_${randomUUID().slice(0, 8)}`,
    },
    { client: lease, clock: steadyClock, log, random, onLead: leads => metrics.leads(settings.LEASE_NAME, leads) },
  )
}

/** False: `stop` came first. */
async function waitUntil(conditions: readonly (Promise<unknown> | undefined)[], stop: Promise<'stop'>): Promise<boolean> {
  return (await Promise.race([Promise.all(conditions), stop])) !== 'stop'
}

async function withGrace(work: Promise<void>, clock: Clock, cut: () => Promise<void>): Promise<void> {
  const timer = new AbortController()
  const late = clock.sleep(GRACE_MS, timer.signal).then(() => (timer.signal.aborted ? undefined : cut()))
  await work
  timer.abort()
  await late
}

interface Clients {
  /** For controllers and cache. */
  readonly client: KubeClient
  readonly events: KubeClient
  readonly lease: KubeClient
  /** Whether a further request of the controllers would go out at once. */
  hasRoom(): boolean
  close(): Promise<void>
}

/** Three, as leader election and events must not wait behind busy controllers, nor one of them behind the other. */
function createClients(access: ClusterAccess, context: OperatorContext, metrics: OperatorMetrics, mayWrite: () => boolean): Clients {
  const { clock } = context
  const rateLimit = createRateLimit(RATE, clock)
  const concurrency = createConcurrencyLimit({ clock, rateLimit })
  const client = concurrency.limit(createClient(access, { context, metrics, rateLimit, mayWrite }))
  const events = concurrency.limit(createClient(access, { context, metrics, rateLimit: createRateLimit(SIDE_RATE, clock), mayWrite }))
  // The Lease waits for no place, and tells how soon the API server answers.
  const lease = createClient(access, {
    context,
    metrics,
    rateLimit: createRateLimit(SIDE_RATE, clock),
    onAnswer: concurrency.noteAnswer,
  })
  return {
    ...{ client, events, lease },
    hasRoom: () => rateLimit.hasRoom() && concurrency.hasRoom(),
    close: async () => void (await Promise.all([client.close(), lease.close(), events.close()])),
  }
}

interface ClientParts {
  readonly context: OperatorContext
  readonly metrics: OperatorMetrics
  readonly rateLimit: RateLimit
  readonly mayWrite?: () => boolean
  /** Called for each answer to a write. */
  readonly onAnswer?: (status: number, durationMs: number) => void
}

function createClient(access: ClusterAccess, { context, metrics, rateLimit, mayWrite = () => true, onAnswer }: ClientParts) {
  const { host } = new URL(access.server)
  return createHttpKubeClient(access, {
    clock: context.clock,
    rateLimit,
    userAgent: OPERATOR_NAME,
    mayWrite,
    onRequest({ asked, status, durationMs }) {
      metrics.request(asked.verb, host, status, durationMs)
      if (asked.verb !== 'get') onAnswer?.(status, durationMs)
    },
  })
}

function describeHang(longestMs: number): string | undefined {
  return longestMs < HANGS_MS ? undefined : `a reconcile has been under way for ${Math.round(longestMs / 1000)} s`
}

function readyChecks(cache: ObjectCache): Checks {
  return {
    cache() {
      if (cache.hasSynced) return undefined
      const [first] = cache.failures()
      if (first === undefined) return 'the objects of the cluster are being listed'
      const { message, advice } = first.failure
      return advice === undefined ? message : `${message}; ${advice}`
    },
  }
}

function countByReady(cache: ObjectCache): Iterable<readonly [string, number]> {
  const counts = new Map<string, number>()
  for (const pipeline of cache.list(LOG_PIPELINES) as readonly LogPipeline[]) {
    const status = conditionOf(pipeline, 'Ready')?.status ?? 'Unknown'
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}
