/** Anomalies and incidents that grouping keeps, by tenant and service, within bounds. */
import type { Severity } from '../../contract/platforms.ts'
import type { Anomaly } from '../anomalies/anomaly.ts'
import type { AffectedServices } from './affected-services.ts'
import { toMember, type WindowMember } from './anomaly-window.ts'
import { SharedTraces } from './shared-traces.ts'

/** Tenants kept at most; the one longest untouched leaves first. */
const MAX_TENANTS = 50_000
const MAX_MEMBERS = 50
const MAX_INCIDENTS = 20
/** Anomalies, services and traces of all tenants together. Beyond this the tenant with the most loses the entries that it touched longest ago. */
const MAX_KEPT = 200_000

/** Share of them that is left then. */
const SHED_TO = 0.95

/** An incident that is not resolved. */
export interface KnownIncident {
  readonly id: string
  readonly services: AffectedServices
  severity: Severity
  score: number
  hasFatal: boolean
  firstSeenMs: number
  lastSeenMs: number
  /** Event time of the latest anomaly whose group was as severe as the incident. */
  lastAsSevereMs: number
}

export interface ServiceState {
  readonly service: string
  /** In the order of arrival. */
  readonly members: WindowMember[]
  readonly incidents: KnownIncident[]
}

export interface TenantState {
  readonly tenant: string
  readonly services: Map<string, ServiceState>
  readonly traces: SharedTraces
  /** Services and their members. */
  kept: number
}

/** An anomaly where it is kept. */
export interface Placed {
  readonly tenant: TenantState
  readonly service: ServiceState
  readonly member: WindowMember
}

export interface GroupingMemory {
  /** Keeps an anomaly with its service. */
  place(anomaly: Anomaly): Placed
  /** Forgets the anomaly, where it is kept. */
  drop(anomaly: Anomaly): void
  /** Keeps an incident with its service, in place of the one with its id; the one kept longest leaves where there are too many. */
  keepIncident(tenant: string, service: string, incident: KnownIncident): void
  /** Undefined: nothing is kept of it. */
  find(tenant: string, service: string): ServiceState | undefined
}

export function createGroupingMemory(): GroupingMemory {
  const tenants = new Map<string, TenantState>()
  let kept = 0
  /** Makes a change to one tenant, and brings the sum over all tenants up to date. */
  const changing = <T>(tenant: TenantState, change: () => T): T => {
    const before = weightOf(tenant)
    const result = change()
    kept += weightOf(tenant) - before
    return result
  }
  const tenantState = (tenant: string) =>
    touch(
      tenants,
      tenant,
      MAX_TENANTS,
      () => ({ tenant, services: new Map(), traces: new SharedTraces(), kept: 0 }),
      left => {
        kept -= weightOf(left)
      },
    )
  /** Takes from the tenants with the most, so that one tenant's anomalies never make another tenant's forgotten. */
  const shed = () => {
    const level = commonLevel([...tenants.values()].map(weightOf), MAX_KEPT * SHED_TO)
    for (const tenant of tenants.values()) if (weightOf(tenant) > level) changing(tenant, () => cutDown(tenant, level))
  }

  return {
    place(anomaly) {
      const tenant = tenantState(anomaly.tenant_id)
      const placed = changing(tenant, () => {
        const service = serviceState(tenant, anomaly.service)
        const member = toMember(anomaly)
        if (service.members.length < MAX_MEMBERS) tenant.kept++
        push(service.members, member, MAX_MEMBERS)
        tenant.traces.add(member)
        return { tenant, service, member }
      })
      if (kept > MAX_KEPT) shed()
      return placed
    },
    drop({ id, tenant_id, service }) {
      const tenant = tenants.get(tenant_id)
      const members = tenant?.services.get(service)?.members ?? []
      const at = members.findIndex(({ anomaly }) => anomaly.id === id)
      if (tenant === undefined || at < 0) return
      members.splice(at, 1)
      tenant.kept--
      kept--
    },
    keepIncident(tenantId, service, incident) {
      const tenant = tenantState(tenantId)
      const state = changing(tenant, () => serviceState(tenant, service))
      dropIncident(state, incident.id)
      addIncident(state, incident)
    },
    find: (tenant, service) => tenants.get(tenant)?.services.get(service),
  }
}

export function addIncident({ incidents }: ServiceState, incident: KnownIncident): void {
  push(incidents, incident, MAX_INCIDENTS)
}

export function dropIncident({ incidents }: ServiceState, incidentId: string): void {
  const at = incidents.findIndex(({ id }) => id === incidentId)
  if (at >= 0) incidents.splice(at, 1)
}

/** The service's state, which is touched last from now on. Services have no bound of their own: `MAX_KEPT` counts them. */
function serviceState(tenant: TenantState, service: string): ServiceState {
  const create = (): ServiceState => {
    tenant.kept++
    return { service, members: [], incidents: [] }
  }
  return touch(tenant.services, service, Number.POSITIVE_INFINITY, create)
}

/** Forgets what the tenant touched longest ago, until its part is no more than `level`. */
function cutDown(tenant: TenantState, level: number): void {
  const { traces, services } = tenant
  // One iterator for all: a new one would pass over all that was deleted before it, each time.
  const oldestFirst = services.values()
  while (weightOf(tenant) > level) {
    if (traces.size > tenant.kept) {
      traces.dropOldest()
    } else {
      const { service, members } = oldestFirst.next().value!
      services.delete(service)
      tenant.kept -= 1 + members.length
    }
  }
}

/** The largest part that a tenant may have, so that all parts together, the larger ones cut down to it, are `total`. Their sum is more than `total`. */
function commonLevel(parts: readonly number[], total: number): number {
  const descending = parts.toSorted((a, b) => b - a)
  let tooMuch = descending.reduce((sum, part) => sum + part, -total)
  let level = descending[0]!
  for (const [at, part] of descending.entries()) {
    // The parts before this one are at the level: they come down together.
    const drop = Math.min(tooMuch, at * (level - part))
    if (at > 0) level -= drop / at
    tooMuch -= drop
    if (tooMuch <= 0) return level
  }
  return level - tooMuch / descending.length
}

/** A tenant's part of `MAX_KEPT`. */
function weightOf({ kept, traces }: TenantState): number {
  return kept + traces.size
}

function push<T>(list: T[], item: T, max: number): void {
  if (list.length >= max) list.shift()
  list.push(item)
}

/** The entry of a map that is kept in the order of use, and never larger than `max`. */
function touch<T>(map: Map<string, T>, key: string, max: number, create: () => T, onLeft?: (value: T) => void): T {
  const value = map.get(key) ?? create()
  map.delete(key)
  if (map.size >= max) {
    const [oldest, left] = map.entries().next().value!
    map.delete(oldest)
    onLeft?.(left)
  }
  map.set(key, value)
  return value
}
