/** Brings anomalies to where they are kept: the indices of their tenants, or, while those take none, the default tenant's, where they wait. */
import { lifecycleIndices } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { busKey } from '../../../domain/tenants/tenant.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { onceEvery } from '../../../limits/once-every.ts'
import type { DeadLetters } from '../../../pipeline/dead-letters/dead-letter.ts'
import { inAnyOrder } from '../../../pipeline/in-any-order.ts'
import type { GroupingConfigs } from '../../../pipeline/sinks/incidents/grouping-configs.ts'
import { createIncidentOpener } from '../../../pipeline/sinks/incidents/open-incidents.ts'
import type { IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { TenantFailure } from '../../../pipeline/sinks/tenants/tenant-failure.ts'
import { createTenantOutages } from '../../../pipeline/sinks/tenants/tenant-outages.ts'
import type { TenantRooms } from '../../../pipeline/sinks/tenants/tenant-rooms.ts'
import { createWaitingAnomalies } from '../../../pipeline/sinks/tenants/waiting-anomalies.ts'
import type { Bus, ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import type { ThreadDeps } from './thread-deps.ts'

export interface AnomalyPlaces {
  /** Stores anomalies where they belong, or lets them wait; resolves to those that the store will not take. */
  place(anomalies: readonly Anomaly[]): Promise<readonly RefusedAnomaly[]>
  /** Takes up some of the anomalies that wait, as tenants get their indices. */
  resume(): Promise<void>
  /** Forgets how anomalies were grouped. */
  reset(): void
  /** The anomalies of tenants whose indices can be read: those of others must not keep them from going on. */
  readable(anomalies: readonly Anomaly[]): Promise<readonly Anomaly[]>
  /** Groups anomalies that are stored already, as they were grouped then. */
  restore(anomalies: readonly Anomaly[]): Promise<void>
}

export interface RefusedAnomaly {
  readonly anomaly: Anomaly
  readonly reason: string
}

export interface AnomalyPlacesDeps {
  readonly store: SearchStore
  readonly rooms: TenantRooms
  readonly outages: IndexOutages
  readonly configs: GroupingConfigs
  /** Collects dead letters of this thread. */
  readonly deadLettersInto: (bus: Bus) => DeadLetters
}

/** How often waiting anomalies are looked after: while there are some, and in case another bridge left some. */
const RESUME_MS = 1_000
const LOOK_MS = 600_000
/** Tenants whose waiting anomalies are taken at once. */
const MAX_RESUMED_TENANTS = 20
const WARN_EVERY_MS = 60_000

export function createAnomalyPlaces(
  deps: ThreadDeps,
  { store, rooms, outages, configs, deadLettersInto }: AnomalyPlacesDeps,
): AnomalyPlaces {
  const { settings, count, clock, log, signal } = deps
  const { RETENTION_DAYS: retentionDays } = settings
  const openOpener = () => createIncidentOpener({ store, clock, signal, retentionDays, configs, onProgress: countDocuments(count) })
  let opener = openOpener()
  const tenantOutages = createTenantOutages(outages)
  const waiting = createWaitingAnomalies({ store, clock, signal, outages })
  let mayWait = true
  let lookedMs = Number.NEGATIVE_INFINITY
  const mayWarn = onceEvery(WARN_EVERY_MS, () => clock.nowMs())

  /** Opens and folds incidents; tenants whose indices do not work are left out from now on, while the store itself works. */
  const handOver = async (anomalies: readonly Anomaly[]) => {
    if (anomalies.length === 0) return []
    try {
      const { refused } = await opener.handle(anomalies)
      if (outages.isAny && anomalies.some(isDefault)) for (const index of lifecycleIndices(DEFAULT_TENANT)) outages.took(index, true)
      for (const { anomaly, hasNoRoom } of refused) if (hasNoRoom) rooms.hasNoRoom(anomaly.tenant_id)
      return refused
    } catch (error) {
      if (error instanceof TenantFailure)
        rooms.close(await tenantOutages.toBlame(error, new Set(anomalies.map(({ tenant_id }) => tenant_id))))
      throw error
    }
  }

  /** Resolves to those that find no room anywhere. */
  const letWait = async (anomalies: readonly Anomaly[]) => {
    if (anomalies.length === 0) return []
    mayWait = true
    count('anomaliesDelayed', anomalies.length)
    if (mayWarn()) {
      const tenants = new Set(anomalies.map(({ tenant_id }) => tenant_id))
      log.warn(
        { anomalies: anomalies.length, tenants: tenants.size, tenant: anomalies[0]!.tenant_id },
        "anomalies wait in the default tenant's index: their tenants are new beyond the limit, or their indices find no room or do not work",
      )
    }
    return waiting.add(anomalies)
  }

  return {
    async place(anomalies) {
      const admitted = await rooms.admit(anomalies.map(({ tenant_id }) => tenant_id))
      const isAdmitted = ({ tenant_id }: Anomaly) => admitted.has(tenant_id)
      const refused = await handOver(anomalies.filter(isAdmitted))
      const homeless = refused.filter(({ hasNoRoom }) => hasNoRoom).map(({ anomaly }) => anomaly)
      // The default tenant's have nowhere else to wait.
      const [shut, others] = partition([...anomalies.filter(anomaly => !isAdmitted(anomaly)), ...homeless], isDefault)
      const notKept = shut.map(anomaly => ({ anomaly, reason: "the default tenant's indices do not work or find no room" }))
      return [...refused.filter(({ hasNoRoom }) => !hasNoRoom), ...notKept, ...(await letWait(others))]
    },

    async resume() {
      if (isRecent(lookedMs, mayWait ? RESUME_MS : LOOK_MS, clock.nowMs())) return
      lookedMs = clock.nowMs()
      if ((await tenantOutages.red([DEFAULT_TENANT])).size > 0) return
      const tenants = await waiting.tenants()
      mayWait = tenants.length > 0
      if (!mayWait) return
      const open = await rooms.admit(inAnyOrder(tenants))
      const red = await tenantOutages.red(open)
      rooms.close(red)
      const admitted = [...open].filter(tenant => !red.has(tenant)).slice(0, MAX_RESUMED_TENANTS)
      if (admitted.length === 0) return
      const anomalies = await waiting.of(admitted)
      const [homeless, refused] = partition(await handOver(anomalies), ({ hasNoRoom }) => hasNoRoom)
      // Tried again in a minute, not at every turn.
      rooms.close(homeless.map(({ anomaly }) => anomaly.tenant_id))
      const dead = deadLettersInto(deps.bus)
      for (const { anomaly, reason } of refused) dead.add(lostEvent(anomaly, settings.ANOMALY_TOPIC, clock.nowMs()), reason)
      await dead.send()
      const waitOn = new Set(homeless.map(({ anomaly }) => anomaly.id))
      const settled = anomalies.filter(({ id }) => !waitOn.has(id))
      await waiting.remove(settled)
      dead.count()
      count('anomaliesResumed', settled.length - refused.length)
    },

    reset() {
      opener = openOpener()
    },

    async readable(anomalies) {
      const known = await rooms.known(anomalies.map(({ tenant_id }) => tenant_id))
      const red = await tenantOutages.red(known)
      return anomalies.filter(({ tenant_id }) => known.has(tenant_id) && !red.has(tenant_id))
    },

    restore: anomalies => opener.restore(anomalies),
  }
}

/** The event of an anomaly that waited, without its log record, which was stored apart: the letter shows the anomaly, and a replay leaves it out. */
function lostEvent(anomaly: Anomaly, topic: string, nowMs: number): ConsumedRecord {
  const { tenant_id: tenant, service } = anomaly
  const value = Buffer.from(JSON.stringify(anomaly))
  const unreadable = 'an anomaly that waited, without its log record'
  return { topic, partition: 0, offset: 0, timestampMs: nowMs, key: busKey(tenant, service), value, headers: {}, unreadable }
}

const isDefault = ({ tenant_id }: Anomaly) => tenant_id === DEFAULT_TENANT

/** The items that pass a test, and the others. */
function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  const { yes = [], no = [] } = Object.groupBy(items, item => (test(item) ? 'yes' : 'no'))
  return [yes, no]
}
