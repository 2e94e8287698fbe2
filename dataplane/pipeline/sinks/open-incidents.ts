/** Stores anomalies, and opens or extends the incidents that they belong to. */
import { incidentsIndex } from '../../contract/indices.ts'
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import { buildAuditEntry } from '../../domain/incidents/audit-entry.ts'
import { createGrouping, type GroupingChange, mergeChanges } from '../../domain/incidents/grouping.ts'
import { buildIncident, describeCreation, foldIntoIncident } from '../../domain/incidents/incident.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { isRecent } from '../../limits/is-recent.ts'
import { keepBounded } from '../../limits/keep-bounded.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal, type Version, VersionConflict } from '../../ports/search-store.ts'
import { readStoredIncident } from '../incident-of.ts'
import {
  findMemberships,
  findRecentMemberships,
  type Memberships,
  type RefusedAnomaly,
  type WrittenAnomalies,
  writeAnomalies,
} from './anomaly-documents.ts'
import { writeAuditEntry } from './audit-trail.ts'
import type { BulkWriterDeps } from './bulk-writer.ts'
import type { GroupingConfigs } from './grouping-configs.ts'
import { createRecurrence } from './recurrence.ts'
import { findUnresolved, recountIncident } from './stored-incidents.ts'
import { forEachTenant } from './tenant-failure.ts'

export interface OpenIncidentsDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly configs: GroupingConfigs
  readonly signal: AbortSignal
  readonly onProgress?: BulkWriterDeps['onProgress']
  /** How long anomaly documents are kept. Default: for ever. */
  readonly retentionDays?: number
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
const MAX_REMEMBERED = 10_000
const MAX_CONFLICTS = 20
/** Incidents that are written at once: those that come together go to the store as one bulk. */
const MAX_WRITES = 100
/** Incidents that are read at once. */
const MAX_READ = 1_000
/** Services whose incidents are read at once. */
const MAX_SERVICES_READ = 250
/** Incidents that are kept as they were written last. */
const MAX_KEPT = 100
const DAY_MS = 86_400_000

/**
 * The bridge's `lifecycle` thread alone creates incidents (Decisions 6). An anomaly counts once, however often it is replayed: its document names
 * the incident it counts for, and the first time after a start that an incident is touched, its count is taken from those documents.
 *
 * Order of writing: incident, anomaly documents, then that recount; a crash in between is mended by the replay.
 */
export function createIncidentOpener(deps: OpenIncidentsDeps): IncidentOpener {
  const { store, clock, configs, signal, onProgress, retentionDays = Number.POSITIVE_INFINITY } = deps
  const grouping = createGrouping()
  const recurrence = createRecurrence({ store, clock, signal })
  const services = new Map<string, KnownService>()
  /** By index and id, the one that was written longest ago first. */
  const kept = new Map<string, KnownIncident>()
  /** Incidents whose count is known to be that of their anomaly documents. */
  const counted = new Map<string, true>()

  /** Tells grouping of a tenant's incidents that were resolved by hand. */
  const forgetResolved = async ({ tenant, of }: DueServices) => {
    const known = new Map(of.flatMap(each => [...each.known.incidentIds].map(id => [id, each] as const)))
    for (const ids of portionsOf([...known.keys()], MAX_READ)) {
      const current = await store.getMany<Pick<StoredIncident, 'status'>>(incidentsIndex(tenant), ids, ['status'])
      for (const [id, { source }] of current) {
        if (source.status !== 'resolved') continue
        const { service, known: ownKnown } = known.get(id)!
        grouping.forget({ tenant, service, incidentId: id })
        ownKnown.incidentIds.delete(id)
      }
    }
  }

  /** Tells grouping of incidents that were reopened by hand, and of those from before a restart. */
  const findOpen = async ({ tenant, of }: DueServices) => {
    for (const some of portionsOf(of, MAX_SERVICES_READ)) {
      const unresolved = await findUnresolved(
        store,
        tenant,
        some.map(({ service }) => service),
      )
      for (const { service, known } of some) {
        for (const incident of (unresolved.get(service) ?? []).toReversed()) {
          if (known.incidentIds.has(incident.id)) continue
          grouping.restoreIncident(incident)
          known.incidentIds.add(incident.id)
        }
        known.atMs = clock.nowMs()
        keepBounded(services, serviceKey(tenant, service), known, MAX_REMEMBERED)
      }
    }
  }

  const refreshServices = async (anomalies: readonly Anomaly[]) => {
    const due = new Map<string, DueService & { readonly tenant: string }>()
    for (const { tenant_id: tenant, service } of anomalies) {
      const key = serviceKey(tenant, service)
      if (due.has(key)) continue
      const known = services.get(key) ?? { atMs: Number.NEGATIVE_INFINITY, incidentIds: new Set<string>() }
      if (!isRecent(known.atMs, REMEMBERED_MS, clock.nowMs())) due.set(key, { tenant, service, known })
    }
    const tenants = [...Map.groupBy(due.values(), ({ tenant }) => tenant)].map(([tenant, of]) => ({ tenant, of }))
    await forEachTenant(tenants, forgetResolved)
    await forEachTenant(tenants, findOpen)
  }

  /** The incident as it was written last, for the first attempt; where somebody else has changed it the write fails, and it is read. */
  const current = async (index: string, id: string, attempt: number): Promise<KnownIncident | undefined> => {
    const key = `${index}/${id}`
    const known = attempt === 0 ? kept.get(key) : undefined
    kept.delete(key)
    return known ?? (await readStoredIncident(store, index, id))
  }

  const keep = (index: string, id: string, incident: KnownIncident) => keepBounded(kept, `${index}/${id}`, incident, MAX_KEPT)

  /** Writes a fold into its incident. */
  const writeFold = async (change: GroupingChange): Promise<Written> => {
    const index = incidentsIndex(change.tenant)
    const { incidentId } = change
    for (let attempt = 0; ; attempt++) {
      const stored = await current(index, incidentId, attempt)
      if (stored === undefined || stored.source.status === 'resolved') return 'resolved'
      try {
        const folded = foldIntoIncident(stored.source, change, nowIso(clock))
        const isStill = stored.source.recurring === true && (await recurrence.afterFold(stored.source, change))
        const source = stored.source.recurring === undefined ? folded : { ...folded, recurring: isStill }
        keep(index, incidentId, { ...(await store.put(index, incidentId, source, stored)), source })
        return 'written'
      } catch (error) {
        if (!(error instanceof VersionConflict) || attempt >= MAX_CONFLICTS) throw error
      }
    }
  }

  /** Writes a new incident; one that is there already was made by the same anomalies before a crash. */
  const writeOpened = async (change: GroupingChange, recurring: boolean): Promise<Written> => {
    const incident = { ...buildIncident(change, nowIso(clock)), recurring }
    const created = buildAuditEntry(incident.id, 'create', incident.createdAt, describeCreation(change))
    const stored: StoredIncident = { ...incident, lastChange: created }
    try {
      await store.put(incidentsIndex(change.tenant), incident.id, stored, { only: 'new' })
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      return 'written'
    }
    keepBounded(counted, incident.id, true, MAX_REMEMBERED)
    try {
      await writeAuditEntry(store, change.tenant, created)
    } catch (error) {
      // The entry stands in the incident, and comes into the audit index with the next change that finds room there.
      if (!(error instanceof SearchStoreRefusal)) throw error
    }
    return 'written'
  }

  const write = async ({ opens, change }: Decided, recurring: ReadonlySet<string>): Promise<Written | SearchStoreRefusal> => {
    try {
      return await (opens ? writeOpened(change, recurring.has(change.incidentId)) : writeFold(change))
    } catch (error) {
      if (error instanceof SearchStoreRefusal) return error
      throw error
    }
  }

  /** Runs grouping over anomalies, in order, and writes the incidents it decides on; notes in `memberships` what each anomaly counts for. */
  const group = async (anomalies: readonly Anomaly[], memberships: Memberships, refused: RefusedAnomaly[]): Promise<void> => {
    const changes = await decide(anomalies)
    const recurring = await recurrence.ofNew(changes.filter(({ opens }) => opens).map(({ change }) => change))
    const written = await forEachTenant(changes, decided => write(decided, recurring), MAX_WRITES)
    const startingOver: Anomaly[] = []
    for (const [i, { opens, change }] of changes.entries()) {
      const outcome = written[i]!
      const incidentIds = services.get(serviceKey(change.tenant, change.service))?.incidentIds
      if (outcome === 'written') {
        incidentIds?.add(change.incidentId)
        for (const { id, tenant_id } of change.members) memberships.set(id, { tenant: tenant_id, incidentId: change.incidentId })
        continue
      }
      const members = new Set(change.members.map(({ id }) => id))
      const own = anomalies.filter(({ id }) => members.has(id))
      if (outcome instanceof SearchStoreRefusal) {
        if (opens) grouping.undo(change, own)
        else grouping.release(own)
        const { message: reason, hasNoRoom } = outcome
        refused.push(...own.map(anomaly => ({ anomaly, reason, hasNoRoom })))
        continue
      }
      // Resolved by hand in this very moment: its would-be members start over.
      incidentIds?.delete(change.incidentId)
      grouping.forget(change, own)
      startingOver.push(...own)
    }
    if (startingOver.length > 0) await group(startingOver, memberships, refused)
  }

  /** All that grouping decides on, merged into one change per incident. */
  const decide = async (anomalies: readonly Anomaly[]): Promise<readonly Decided[]> => {
    const changes = new Map<string, Decided>()
    const configOf = await configs.of(new Set(anomalies.map(({ tenant_id }) => tenant_id)))
    for (const anomaly of anomalies) {
      for (const decision of grouping.add(anomaly, configOf.get(anomaly.tenant_id)!)) {
        if (decision.kind === 'none') continue
        const before = changes.get(decision.incidentId)
        const opens = decision.kind === 'open' || before?.opens === true
        const change = before === undefined ? decision : mergeChanges(before.change, decision)
        changes.set(decision.incidentId, { tenant: change.tenant, opens, change })
      }
    }
    return [...changes.values()]
  }

  const recount = async (touched: Memberships) => {
    const uncounted = new Map(
      [...touched.values()].filter(({ incidentId }) => !counted.has(incidentId)).map(each => [each.incidentId, each]),
    )
    await forEachTenant([...uncounted.values()], async ({ tenant, incidentId }) => {
      await recountIncident(store, { tenant, incidentId, keptSinceMs: clock.nowMs() - retentionDays * DAY_MS })
      keepBounded(counted, incidentId, true, MAX_REMEMBERED)
    })
  }

  const restoreMember = (anomaly: Anomaly, incidentId: string | undefined) =>
    grouping.restoreAnomaly(incidentId === undefined ? anomaly : { ...anomaly, incident_id: incidentId })

  return {
    async restore(anomalies) {
      const stored = await findRecentMemberships(store, anomalies)
      await refreshServices(anomalies)
      for (const anomaly of anomalies) restoreMember(anomaly, stored.get(anomaly.id))
    },
    async handle(anomalies) {
      const stored = await findMemberships(store, anomalies)
      const fresh = anomalies.filter(({ id }) => stored.get(id) === undefined)
      await refreshServices(anomalies)
      // Those that were handled before a crash, and not committed, stand in the windows of the others.
      for (const anomaly of anomalies) if (stored.get(anomaly.id) !== undefined) restoreMember(anomaly, stored.get(anomaly.id))
      const memberships: Memberships = new Map()
      const refused: RefusedAnomaly[] = []
      await group(fresh, memberships, refused)
      const left = new Set(refused.map(({ anomaly }) => anomaly.id))
      const written = await writeAnomalies(
        left.size === 0 ? fresh : fresh.filter(({ id }) => !left.has(id)),
        { stored, memberships },
        { store, clock, signal, ...(onProgress === undefined ? {} : { onProgress }) },
      )
      // An incident that counted them is counted anew when they come again.
      for (const { anomaly } of written.refused) counted.delete(memberships.get(anomaly.id)?.incidentId ?? '')
      grouping.release(written.refused.map(({ anomaly }) => anomaly))
      for (const { id, tenant_id } of anomalies) {
        const incidentId = stored.get(id)
        if (incidentId !== undefined) memberships.set(id, { tenant: tenant_id, incidentId })
      }
      await recount(memberships)
      return { ...written, refused: [...refused, ...written.refused] }
    },
  }
}

/** A service as the store was asked about it last. */
interface KnownService {
  atMs: number
  readonly incidentIds: Set<string>
}

/** A service that the store is to be asked about. */
interface DueService {
  readonly service: string
  readonly known: KnownService
}

interface DueServices {
  readonly tenant: string
  readonly of: readonly DueService[]
}

/** The decisions of grouping about one incident. */
interface Decided {
  readonly tenant: string
  readonly opens: boolean
  readonly change: GroupingChange
}

type KnownIncident = Version & { readonly source: StoredIncident }

/** `resolved`: by hand, in the meantime. */
type Written = 'written' | 'resolved'

function serviceKey(tenant: string, service: string): string {
  return `${tenant}/${service}`
}

function nowIso(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString()
}
