/** The features of all services in memory, for enrichment: looked up at once, read anew when they have changed. */

import type { MlFeatures } from '../../domain/features/enrichment.ts'
import { isRecent } from '../../limits/is-recent.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { FeatureValues, OnlineStore } from '../../ports/online-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { within } from '../within.ts'

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
  /** Resolves once what was written before the call is there. Nothing waits for a store that is away or slow, or holds very many services. */
  fresh(): Promise<void>
}

/** How often the store is asked whether anything changed. */
const POLL_MS = 1_000
/** How long a batch waits for its answer. */
const HOLD_MS = 100
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
  /** Before that nothing is read, so that reading takes its share of the time alone. */
  let restsUntilMs = 0
  let isSlow = false
  let looking: Promise<void> | undefined

  const readChanges = async (): Promise<void> => {
    store ??= await deps.open()
    const startedMs = monotonicMs(clock)
    const version = await store.version()
    if (version === read?.version && startedMs - read.atMs < REREAD_MS) return
    const found = await readAll(store, clock.nowMs() - FRESH_MS, maxServices)
    if (found.size === maxServices) log.warn({ maxServices }, 'feature store holds more services than are kept in memory')
    features = found
    read = { version, atMs: startedMs }
    const endedMs = monotonicMs(clock)
    restsUntilMs = endedMs + Math.min(MAX_WAIT_MS, (endedMs - startedMs) / READING_SHARE)
  }
  const onAnswer = () => {
    answeredMs = monotonicMs(clock)
    if (state !== 'reachable') log.info({ services: features.size }, 'feature store reached')
    state = 'reachable'
    isSlow = false
    firstAnswer.resolve()
  }
  const onFailure = (error: unknown) => {
    if (state === 'unreachable' || (state === 'reachable' && isRecent(answeredMs, GRACE_MS, monotonicMs(clock)))) return
    log.warn({ error }, 'feature store cannot be reached: records get zeros')
    state = 'unreachable'
    read = undefined
  }
  const look = (): Promise<void> => {
    looking ??= readChanges()
      .then(onAnswer, onFailure)
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  /** One that is under way may have asked before the call. */
  const lookAnew = async () => {
    await looking
    await look()
  }
  const follow = async () => {
    while (!signal.aborted) {
      await look()
      await clock.sleep(Math.max(POLL_MS, restsUntilMs - monotonicMs(clock)), signal)
    }
  }
  void follow()
    .then(() => store?.close())
    .catch(error => log.warn({ error }, 'feature store could not be closed'))

  return {
    lookup: (tenant, service) => (state === 'reachable' ? features.get(`${tenant}/${service}`) : 'unreachable'),
    ready: () => Promise.race([firstAnswer.promise, clock.sleep(START_WAIT_MS, signal)]),
    async fresh() {
      if (state !== 'reachable' || isSlow || monotonicMs(clock) < restsUntilMs) return
      await within(clock, HOLD_MS, lookAnew, () => {
        isSlow = true
      })
    },
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
