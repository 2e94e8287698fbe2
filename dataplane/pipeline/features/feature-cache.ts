/** The features of all services in memory, for enrichment: looked up at once, read anew in the background. */

import type { MlFeatures } from '../../domain/features/enrichment.ts'
import { isRecent } from '../../limits/is-recent.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { FeatureValues, OnlineStore } from '../../ports/online-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface FeatureCacheDeps {
  /** Called until it succeeds. */
  readonly open: () => Promise<OnlineStore>
  readonly clock: Clock
  readonly log: Log
  /** Ends the reading and closes the store. */
  readonly signal: AbortSignal
  /** Services beyond this many have no features. Default 100,000. */
  readonly maxServices?: number
}

export interface FeatureCache {
  /** `undefined`: the service has none; `unreachable`: the store has not answered for a while, or not yet (Decisions 9). */
  lookup(tenant: string, service: string): MlFeatures | undefined | 'unreachable'
  /** Resolves once the store was read, or after a second without. */
  ready(): Promise<void>
}

/** How often the store is asked whether anything changed. */
const POLL_MS = 1_000
/** Features that were read are good for this long after the last answer. */
const GRACE_MS = 10_000
/** Reading takes at most this part of the time. */
const READING_SHARE = 0.1
const MAX_WAIT_MS = 60_000
/** Features that were written longer ago say nothing of now: their job stands still. */
const FRESH_MS = 3 * 3_600_000
/** Everything is read again after this time, so that what is no longer fresh goes. */
const REREAD_MS = 600_000
const START_WAIT_MS = 1_000
const MAX_SERVICES = 100_000
/** Part of them that one tenant may have while others need the rest. */
const TENANT_SHARE = 0.75

export function createFeatureCache(deps: FeatureCacheDeps): FeatureCache {
  const { clock, log, signal, maxServices = MAX_SERVICES } = deps
  const firstAnswer = Promise.withResolvers<void>()
  let state: 'starting' | 'reachable' | 'unreachable' = 'starting'
  let features: ReadonlyMap<string, MlFeatures> = new Map()
  let store: OnlineStore | undefined
  let read: { readonly version: string; readonly atMs: number } | undefined
  let answeredMs = 0

  /** How long to wait before the next look. */
  const look = async (): Promise<number> => {
    store ??= await deps.open()
    const startedMs = monotonicMs(clock)
    const version = await store.version()
    if (version === read?.version && startedMs - read.atMs < REREAD_MS) return POLL_MS
    const found = await readAll(store, clock.nowMs() - FRESH_MS, maxServices)
    if (found.size === maxServices) log.warn({ maxServices }, 'feature store holds more services than are kept in memory')
    features = found
    read = { version, atMs: startedMs }
    return Math.min(MAX_WAIT_MS, Math.max(POLL_MS, (monotonicMs(clock) - startedMs) / READING_SHARE))
  }
  const onAnswer = () => {
    answeredMs = monotonicMs(clock)
    if (state !== 'reachable') log.info({ services: features.size }, 'feature store reached')
    state = 'reachable'
    firstAnswer.resolve()
  }
  const onFailure = (error: unknown) => {
    if (state === 'unreachable' || (state === 'reachable' && isRecent(answeredMs, GRACE_MS, monotonicMs(clock)))) return
    log.warn({ error }, 'feature store cannot be reached: records get zeros')
    state = 'unreachable'
    read = undefined
  }
  const follow = async () => {
    while (!signal.aborted) {
      let waitMs = POLL_MS
      try {
        waitMs = await look()
        onAnswer()
      } catch (error) {
        onFailure(error)
      }
      await clock.sleep(waitMs, signal)
    }
  }
  void follow()
    .then(() => store?.close())
    .catch(error => log.warn({ error }, 'feature store could not be closed'))

  return {
    lookup: (tenant, service) => (state === 'reachable' ? features.get(`${tenant}/${service}`) : 'unreachable'),
    ready: () => Promise.race([firstAnswer.promise, clock.sleep(START_WAIT_MS, signal)]),
  }
}

async function readAll(store: OnlineStore, writtenSinceMs: number, maxServices: number): Promise<ReadonlyMap<string, MlFeatures>> {
  const found = new Map<string, MlFeatures>()
  const counts = new Map<string, number>()
  const mostOfTenant = Math.ceil(TENANT_SHARE * maxServices)
  /** Those beyond the share of their tenant, for the room that the others leave. */
  const beyond: (readonly [key: string, features: MlFeatures])[] = []
  for await (const page of store.scan())
    for (const { tenant, service, values, writtenMs } of page) {
      if (found.size >= maxServices) return found
      if (writtenMs < writtenSinceMs) continue
      const count = counts.get(tenant) ?? 0
      if (count < mostOfTenant) {
        counts.set(tenant, count + 1)
        found.set(`${tenant}/${service}`, toFeatures(values))
      } else if (beyond.length < maxServices - mostOfTenant) beyond.push([`${tenant}/${service}`, toFeatures(values)])
    }
  for (const [key, features] of beyond.slice(0, maxServices - found.size)) found.set(key, features)
  return found
}

function toFeatures(values: FeatureValues): MlFeatures {
  return {
    ml_error_rate_1h: values.ml_error_rate_1h ?? 0,
    ml_p99_latency_1h: values.ml_p99_latency_1h ?? 0,
    ml_request_rate_1h: values.ml_request_rate_1h ?? 0,
    ml_anomaly_history_count: values.ml_anomaly_history_count ?? 0,
  }
}
