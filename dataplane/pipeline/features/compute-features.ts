/** `feature_compute`: the features of every service over one hour, from the search store to the online store (Spec: Feature pipeline; Decisions 9). */
import { HOUR_MS, isTooFarAhead } from '../../domain/features/feature-hour.ts'
import { computeFeatures } from '../../domain/features/service-features.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeatureKey, FeatureRow, OnlineStore } from '../../ports/online-store.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { readServiceHours } from './service-hours.ts'

export interface ComputeDeps {
  readonly search: SearchStore
  readonly online: OnlineStore
  readonly clock: Clock
  readonly log: Log
  /** Stops it between two requests, before anything is written. */
  readonly signal?: AbortSignal
}

export interface ComputeResult {
  readonly written: number
  readonly removed: number
  /** Services whose stored features speak of a later time than this hour. */
  readonly kept: number
}

const keyOf = ({ tenant, service }: FeatureKey) => `${tenant}/${service}`

/**
 * Writes the features of the hour and removes those of services that no longer have any. Doing it again changes nothing; what is stored for a
 * later time stays, up to a day ahead. Nothing is written unless the whole hour could be read.
 */
export async function computeHour({ search, online, clock, log, signal }: ComputeDeps, hourMs: number): Promise<ComputeResult> {
  const eventMs = hourMs + HOUR_MS
  const writtenMs = clock.nowMs()
  // The last 24 h, at the latest those before the next hour's features.
  const anomaliesUntilMs = Math.min(writtenMs, eventMs + HOUR_MS)
  const rows = new Map<string, FeatureRow>()
  for await (const services of readServiceHours({ store: search, log, signal }, { hourMs, anomaliesUntilMs }))
    for (const found of services) {
      const { tenant, service } = found
      rows.set(keyOf(found), { tenant, service, values: { ...computeFeatures(found) }, eventMs, writtenMs })
    }
  const gone: FeatureKey[] = []
  let kept = 0
  for await (const page of online.scan())
    for (const stored of page) {
      if (stored.eventMs > eventMs && !isTooFarAhead(stored.eventMs, writtenMs)) kept += rows.delete(keyOf(stored)) ? 1 : 0
      else if (!rows.has(keyOf(stored))) gone.push(stored)
    }
  await online.write([...rows.values()])
  await online.remove(gone)
  return { written: rows.size, removed: gone.length, kept }
}
