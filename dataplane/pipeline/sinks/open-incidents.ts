import { incidentsIndex } from '../../contract/indices.ts'
import { parseLookback } from '../../domain/anomaly-config.ts'
import { buildAuditEntry } from '../../domain/audit.ts'
import { createGrouping, type GroupingChange, type GroupingConfig, mergeChanges } from '../../domain/grouping.ts'
import { buildIncident, describeCreation, foldIntoIncident } from '../../domain/incident.ts'
import { isRecent } from '../../domain/recent.ts'
import type { Anomaly } from '../../domain/records.ts'
import type { StoredIncident } from '../../domain/stored-incident.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeclaredAnomaly } from '../../ports/declared-ticketing.ts'
import { type SearchStore, VersionConflict } from '../../ports/search-store.ts'
import { loadAnomalyConfig } from '../load-anomaly-config.ts'
import { findMemberships, type Memberships, type WrittenAnomalies, writeAnomalies } from './anomaly-documents.ts'
import { writeAuditEntry } from './audit-trail.ts'
import type { BulkWriterDeps } from './bulk-writer.ts'
import { findUnresolved, recountIncident } from './stored-incidents.ts'

export interface OpenIncidentsDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: BulkWriterDeps['onProgress']
  /** What wins over the configuration of every tenant; default: nothing. */
  readonly declaredAnomaly?: () => DeclaredAnomaly
}

/** Stores anomalies and groups them into incidents. Not for concurrent use. */
export interface IncidentOpener {
  /** Takes in anomalies that were handled before the last restart, to restore what grouping remembers. */
  restore(anomalies: readonly Anomaly[]): Promise<void>
  /** Resolves once anomalies and incidents are stored. */
  handle(anomalies: readonly Anomaly[]): Promise<WrittenAnomalies>
}

/** How long what the store says of a service's incidents is taken as it was read, ms; what was resolved meanwhile shows at the write. */
const REMEMBERED_MS = 1_000
/** The same for a tenant's configuration: short, so that a change takes effect at once. */
const CONFIG_REMEMBERED_MS = 100
const MAX_REMEMBERED = 10_000
const MAX_CONFLICTS = 20

/**
 * The bridge's `lifecycle` thread alone creates incidents (Decisions 6). An anomaly counts once, however often it is replayed: its document names
 * the incident it counts for, and the first time after a start that an incident is touched, its count is taken from those documents.
 *
 * Order of writing: incident, anomaly documents, then that recount; a crash in between is mended by the replay.
 */
export function createIncidentOpener(deps: OpenIncidentsDeps): IncidentOpener {
  const { store, clock, signal, onProgress, declaredAnomaly } = deps
  const grouping = createGrouping()
  const configs = new Map<string, { readonly atMs: number; readonly config: GroupingConfig }>()
  const services = new Map<string, { atMs: number; readonly incidentIds: Set<string> }>()
  /** Incidents whose count is known to be that of their anomaly documents. */
  const counted = new Set<string>()

  const configOf = async (tenant: string): Promise<GroupingConfig> => {
    const known = configs.get(tenant)
    if (known !== undefined && isRecent(known.atMs, CONFIG_REMEMBERED_MS, clock.nowMs())) return known.config
    const { minimumScore, lookbackWindow } = await loadAnomalyConfig(store, tenant, declaredAnomaly?.())
    const config = { minimumScore, lookbackMs: parseLookback(lookbackWindow)! }
    remember(configs, tenant, { atMs: clock.nowMs(), config })
    return config
  }

  /** Tells grouping of incidents that were resolved or reopened by hand, and of those from before a restart. */
  const refreshService = async (tenant: string, service: string) => {
    const key = serviceKey(tenant, service)
    const known = services.get(key) ?? { atMs: Number.NEGATIVE_INFINITY, incidentIds: new Set<string>() }
    if (isRecent(known.atMs, REMEMBERED_MS, clock.nowMs())) return
    const index = incidentsIndex(tenant)
    const current = await store.getMany<StoredIncident>(index, [...known.incidentIds])
    for (const id of known.incidentIds) {
      if (current.get(id)?.source.status !== 'resolved') continue
      grouping.forget(id)
      known.incidentIds.delete(id)
    }
    for (const { id, source } of (await findUnresolved(store, tenant, service)).toReversed()) {
      if (known.incidentIds.has(id)) continue
      grouping.restoreIncident(source)
      known.incidentIds.add(id)
    }
    known.atMs = clock.nowMs()
    remember(services, key, known)
  }

  const refreshServices = async (anomalies: readonly Anomaly[]) => {
    const distinct = new Map(anomalies.map(({ tenant_id, service }) => [serviceKey(tenant_id, service), { tenant_id, service }]))
    await Promise.all([...distinct.values()].map(({ tenant_id, service }) => refreshService(tenant_id, service)))
  }

  /** Writes a fold into its incident; false when the incident was resolved meanwhile. */
  const writeFold = async (change: GroupingChange): Promise<boolean> => {
    const index = incidentsIndex(change.tenant)
    for (let attempt = 0; ; attempt++) {
      const stored = await store.get<StoredIncident>(index, change.incidentId)
      if (stored === undefined || stored.source.status === 'resolved') return false
      try {
        await store.put(index, change.incidentId, foldIntoIncident(stored.source, change, nowIso(clock)), stored)
        return true
      } catch (error) {
        if (!(error instanceof VersionConflict) || attempt >= MAX_CONFLICTS) throw error
      }
    }
  }

  /** Writes a new incident; one that is there already was made by the same anomalies before a crash. */
  const writeOpened = async (change: GroupingChange): Promise<true> => {
    const incident = buildIncident(change, nowIso(clock))
    const created = buildAuditEntry(incident.id, 'create', incident.createdAt, describeCreation(change))
    const stored: StoredIncident = { ...incident, lastChange: created }
    try {
      await store.put(incidentsIndex(change.tenant), incident.id, stored, { only: 'new' })
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      return true
    }
    counted.add(incident.id)
    await writeAuditEntry(store, change.tenant, created)
    return true
  }

  /** Runs grouping over anomalies, in order, and writes the incidents it decides on; notes in `memberships` what each anomaly counts for. */
  const group = async (anomalies: readonly Anomaly[], memberships: Memberships): Promise<void> => {
    const changes = await decide(anomalies)
    // All at once: the store makes them durable together.
    const written = await Promise.all(changes.map(({ opens, change }) => (opens ? writeOpened(change) : writeFold(change))))
    const startingOver: Anomaly[] = []
    for (const [i, { change }] of changes.entries()) {
      const incidentIds = services.get(serviceKey(change.tenant, change.service))?.incidentIds
      if (written[i]) {
        incidentIds?.add(change.incidentId)
        for (const { id, tenant_id } of change.members) memberships.set(id, { tenant: tenant_id, incidentId: change.incidentId })
        continue
      }
      // Resolved by hand in this very moment: its would-be members start over.
      const members = new Set(change.members.map(({ id }) => id))
      const own = anomalies.filter(({ id }) => members.has(id))
      incidentIds?.delete(change.incidentId)
      grouping.forget(change.incidentId, own)
      startingOver.push(...own)
    }
    if (startingOver.length > 0) await group(startingOver, memberships)
  }

  /** All that grouping decides on, merged into one change per incident. */
  const decide = async (anomalies: readonly Anomaly[]) => {
    const changes = new Map<string, { readonly opens: boolean; readonly change: GroupingChange }>()
    for (const anomaly of anomalies) {
      const config = await configOf(anomaly.tenant_id)
      for (const decision of grouping.add(anomaly, config)) {
        if (decision.kind === 'none') continue
        const before = changes.get(decision.incidentId)
        const opens = decision.kind === 'open' || before?.opens === true
        changes.set(decision.incidentId, { opens, change: before === undefined ? decision : mergeChanges(before.change, decision) })
      }
    }
    return [...changes.values()]
  }

  const recount = async (touched: Memberships) => {
    for (const { tenant, incidentId } of touched.values()) {
      if (counted.has(incidentId)) continue
      await recountIncident(store, tenant, incidentId)
      if (counted.size >= MAX_REMEMBERED) counted.clear()
      counted.add(incidentId)
    }
  }

  return {
    async restore(anomalies) {
      const stored = await findMemberships(store, anomalies)
      await refreshServices(anomalies)
      for (const anomaly of anomalies) {
        const incidentId = stored.get(anomaly.id)
        grouping.restoreAnomaly(incidentId === undefined ? anomaly : { ...anomaly, incident_id: incidentId })
      }
    },
    async handle(anomalies) {
      const stored = await findMemberships(store, anomalies)
      const fresh = anomalies.filter(({ id }) => stored.get(id) === undefined)
      await refreshServices(fresh)
      const memberships: Memberships = new Map()
      await group(fresh, memberships)
      const written = await writeAnomalies(
        fresh,
        { stored, memberships },
        { store, clock, signal, ...(onProgress === undefined ? {} : { onProgress }) },
      )
      for (const { id, tenant_id } of anomalies) {
        const incidentId = stored.get(id)
        if (incidentId !== undefined) memberships.set(id, { tenant: tenant_id, incidentId })
      }
      await recount(memberships)
      return written
    },
  }
}

function serviceKey(tenant: string, service: string): string {
  return `${tenant}/${service}`
}

function nowIso(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString()
}

/** Keeps a map bounded by forgetting what was put in first. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= MAX_REMEMBERED && !map.has(key)) map.delete(map.keys().next().value!)
  map.set(key, value)
}
