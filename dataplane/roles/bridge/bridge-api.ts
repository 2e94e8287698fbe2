/** The control API of the bridge (Spec: Bridge). */
import { z } from 'zod'
import { BRIDGE_THREADS, type BridgeThread } from '../../contract/bridge-threads.ts'
import { BRIDGE_METRICS, type BridgeMetric } from '../../contract/counters.ts'
import type { StreamProcessName } from '../../contract/stream-jobs.ts'
import { createControlApp } from '../../http/control-app.ts'
import { type Route, route } from '../../http/route.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { SharedCounters } from '../../telemetry/shared-counters.ts'
import type { RuntimeConfig } from './runtime-config.ts'
import type { StreamJobState } from './stream-watch.ts'

export interface BridgeApiDeps {
  /** The part of `GET /config` that stays as it was at start. */
  readonly fixedConfig: {
    readonly busBrokers: string
    readonly rawTopic: string
    readonly enrichedTopic: string
    readonly searchEndpoint: string
  }
  readonly config: RuntimeConfig
  readonly counters: SharedCounters<BridgeMetric>
  /** Metrics besides these counters. */
  readonly metrics: Metrics
  readonly threadState: (thread: BridgeThread) => string
  /** Which stream jobs do the work of a thread in its place. */
  readonly streamJobs: () => Readonly<Record<StreamProcessName, StreamJobState>>
  readonly busState: () => Promise<string>
  readonly searchState: () => Promise<string>
  readonly log: Log
}

/** Bounds by Decisions 7. */
const ConfigPatch = z.strictObject({
  anomalyThreshold: z.number().gt(0).max(100).optional(),
  windowSize: z.number().int().min(10).max(100_000).optional(),
})

/** The bridge's control API (Spec: Bridge). */
export function createBridgeApi(deps: BridgeApiDeps) {
  const { metrics } = deps
  metrics.sharedCounters(BRIDGE_METRICS, deps.counters)
  return createControlApp({ routes: configRoutes(deps), log: deps.log, metrics, health: () => health(deps) })
}

function configRoutes({ config, fixedConfig, log }: BridgeApiDeps): readonly Route[] {
  return [
    route({ method: 'GET', path: '/config', handle: () => ({ body: { ...config.read(), ...fixedConfig } }) }),
    route({
      method: 'PATCH',
      path: '/config',
      body: ConfigPatch,
      handle({ body }) {
        const before = config.read()
        const after = {
          anomalyThreshold: body.anomalyThreshold ?? before.anomalyThreshold,
          windowSize: body.windowSize ?? before.windowSize,
        }
        config.write(after)
        log.info({ before, after }, 'configuration changed')
        return { body: { status: 'ok', config: after } }
      },
    }),
  ]
}

async function health({ threadState, streamJobs, busState, searchState }: BridgeApiDeps) {
  const threads = Object.fromEntries(BRIDGE_THREADS.map(thread => [thread, threadState(thread)]))
  const [bus, search] = await Promise.all([busState(), searchState()])
  const works = Object.values(threads).every(state => state === 'running') && bus === 'connected' && search === 'connected'
  return { status: works ? 'ok' : 'error', threads, streamJobs: streamJobs(), bus, search }
}
