/** Stores anomalies, and opens or extends the incidents that they belong to. */
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { createGrouping, type GroupingChange, mergeChanges } from '../../../domain/incidents/grouping.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal } from '../../../ports/search-store.ts'
import type { BulkWriterDeps } from '../bulk-writer.ts'
import { forEachTenant } from '../tenants/tenant-failure.ts'
import {
  findMemberships,
  findRecentMemberships,
  type Memberships,
  type RefusedAnomaly,
  type WrittenAnomalies,
  writeAnomalies,
} from './anomaly-documents.ts'
import type { GroupingConfigs } from './grouping-configs.ts'
import { createRecurrence } from './recurrence.ts'
import { createServiceIncidents } from './service-incidents.ts'
import { recountIncident } from './stored-incidents.ts'
import { createIncidentWriter } from './write-incidents.ts'

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

/** Incidents whose count is known. */
const MAX_COUNTED = 10_000
/** Incidents that are written at once: those that come together go to the store as one bulk. */
const MAX_WRITES = 100
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
  const services = createServiceIncidents({ store, clock, grouping })
  const writer = createIncidentWriter({ store, clock, recurrence })
  /** Incidents whose count is known to be that of their anomaly documents. */
  const counted = new Map<string, true>()

  /** Runs grouping over anomalies, in order, and writes the incidents it decides on; notes in `memberships` what each anomaly counts for. */
  const group = async (anomalies: readonly Anomaly[], memberships: Memberships, refused: RefusedAnomaly[]): Promise<void> => {
    const changes = await decide(anomalies)
    const recurring = await recurrence.ofNew(changes.filter(({ opens }) => opens).map(({ change }) => change))
    const written = await forEachTenant(
      changes,
      ({ opens, change }) => (opens ? writer.open(change, recurring.has(change.incidentId)) : writer.extend(change)),
      MAX_WRITES,
    )
    const startingOver: Anomaly[] = []
    for (const [i, { opens, change }] of changes.entries()) {
      const outcome = written[i]!
      if (outcome === 'created') keepBounded(counted, change.incidentId, true, MAX_COUNTED)
      if (outcome === 'created' || outcome === 'written') {
        services.noteOpen(change)
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
      services.noteResolved(change)
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
      keepBounded(counted, incidentId, true, MAX_COUNTED)
    })
  }

  const restoreMember = (anomaly: Anomaly, incidentId: string | undefined) =>
    grouping.restoreAnomaly(incidentId === undefined ? anomaly : { ...anomaly, incident_id: incidentId })

  return {
    async restore(anomalies) {
      const stored = await findRecentMemberships(store, anomalies)
      await services.refresh(anomalies)
      for (const anomaly of anomalies) restoreMember(anomaly, stored.get(anomaly.id))
    },
    async handle(anomalies) {
      const stored = await findMemberships(store, anomalies)
      const fresh = anomalies.filter(({ id }) => stored.get(id) === undefined)
      await services.refresh(anomalies)
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

/** The decisions of grouping about one incident. */
interface Decided {
  readonly tenant: string
  readonly opens: boolean
  readonly change: GroupingChange
}
