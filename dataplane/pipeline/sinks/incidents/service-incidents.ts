/** Keeps grouping informed of incidents that it did not open or end itself: those that a user resolved or reopened, and those from before a restart. */
import { incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { Grouping, IncidentOfService } from '../../../domain/incidents/grouping.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import { portionsOf } from '../../../limits/portions-of.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { forEachTenant } from '../tenants/tenant-failure.ts'
import { findUnresolved } from './stored-incidents.ts'

/** The open incidents of services, as the store has them. */
export interface ServiceIncidents {
  /** Asks the store about the services of the anomalies, and tells grouping what has changed. */
  refresh(anomalies: readonly Anomaly[]): Promise<void>
  /** Grouping has opened or extended an incident, which is stored. */
  noteOpen(incident: IncidentOfService): void
  /** Grouping was told that an incident is resolved. */
  noteResolved(incident: IncidentOfService): void
}

export interface ServiceIncidentsDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly grouping: Grouping
}

/** How long what the store says of a service's incidents is taken as it was read, ms; what was resolved meanwhile shows at the write. */
const REMEMBERED_MS = 1_000
const MAX_REMEMBERED = 10_000
/** Incidents that are read at once. */
const MAX_READ = 1_000
/** Services whose incidents are read at once. */
const MAX_SERVICES_READ = 250

export function createServiceIncidents({ store, clock, grouping }: ServiceIncidentsDeps): ServiceIncidents {
  const services = new Map<string, KnownService>()

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

  const findOpen = async ({ tenant, of }: DueServices) => {
    for (const some of portionsOf(of, MAX_SERVICES_READ)) {
      const names = some.map(({ service }) => service)
      const unresolved = await findUnresolved(store, tenant, names)
      for (const { service, known } of some) {
        for (const incident of (unresolved.get(service) ?? []).toReversed()) {
          known.incidentIds.add(incident.id)
          // Where many services have anomalies, grouping forgets the incident of one that was silent for a while.
          if (!grouping.keeps({ tenant, service, incidentId: incident.id })) grouping.restoreIncident(incident)
        }
        known.atMs = clock.nowMs()
        keepBounded(services, serviceKey({ tenant, service }), known, MAX_REMEMBERED)
      }
    }
  }

  return {
    async refresh(anomalies) {
      const due = new Map<string, DueService & { readonly tenant: string }>()
      for (const { tenant_id: tenant, service } of anomalies) {
        const key = serviceKey({ tenant, service })
        if (due.has(key)) continue
        const known = services.get(key) ?? { atMs: Number.NEGATIVE_INFINITY, incidentIds: new Set<string>() }
        if (!isRecent(known.atMs, REMEMBERED_MS, clock.nowMs())) due.set(key, { tenant, service, known })
      }
      const tenants = [...Map.groupBy(due.values(), ({ tenant }) => tenant)].map(([tenant, of]) => ({ tenant, of }))
      await forEachTenant(tenants, forgetResolved)
      await forEachTenant(tenants, findOpen)
    },
    noteOpen(incident) {
      services.get(serviceKey(incident))?.incidentIds.add(incident.incidentId)
    },
    noteResolved(incident) {
      services.get(serviceKey(incident))?.incidentIds.delete(incident.incidentId)
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

function serviceKey({ tenant, service }: Pick<IncidentOfService, 'tenant' | 'service'>): string {
  return `${tenant}/${service}`
}
