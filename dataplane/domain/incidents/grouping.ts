/** When anomalies of a service make an incident, and which incident takes in the next one (Spec: Limits; Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { Anomaly } from '../anomalies/anomaly.ts'
import { GROUP_WINDOW_MS } from './anomaly-config.ts'
import { type GroupedAnomaly, toMember, type WindowMember, windowAround } from './anomaly-window.ts'
import type { Incident } from './incident-fields.ts'
import { classify, compareSeverity, moreSevere } from './severity.ts'
import { SharedTraces } from './shared-traces.ts'

/** Settings of the tenant whose anomaly it is (Spec: Ticketing runtime configuration, `anomaly`). */
export interface GroupingConfig {
  /** Rule score from which a single anomaly makes an incident. */
  readonly minimumScore: number
  /** How long an incident takes in anomalies after its last one, by event time. */
  readonly lookbackMs: number
}

/** A change to one incident. `members` are the anomalies that now count for it, each named once ever. */
export interface GroupingChange {
  readonly incidentId: string
  readonly tenant: string
  readonly service: string
  /** Severity of the incident after the change. */
  readonly severity: Severity
  readonly members: readonly GroupedAnomaly[]
  /** The incident's own service first. */
  readonly affectedServices: readonly string[]
  /** Affected services beside the named ones; absent: none. */
  readonly furtherServices?: number
}

/** Names an incident with its own service. */
export type IncidentOfService = Pick<GroupingChange, 'incidentId' | 'tenant' | 'service'>

/** The fields by which an incident is restored. */
export const RESTORED_FIELDS = [
  ...(['id', 'tenantId', 'service', 'affectedServices', 'furtherServices'] as const),
  ...(['severity', 'anomalyScore', 'firstSeen', 'lastSeen'] as const),
] satisfies readonly (keyof Incident)[]

export type RestoredIncident = Pick<Incident, (typeof RESTORED_FIELDS)[number]>

export type GroupingDecision =
  /** The anomaly was taken before, or waits for others. */
  | { readonly kind: 'none'; readonly reason: 'duplicate' | 'waiting' }
  /** A new incident. */
  | ({ readonly kind: 'open' } & GroupingChange)
  /** Anomalies, or another affected service, join an incident; its severity stays. */
  | ({ readonly kind: 'fold' } & GroupingChange)
  /** As `fold`, and the incident becomes more severe. */
  | ({ readonly kind: 'raise' } & GroupingChange)

export interface Grouping {
  /** Adds an anomaly; decides about its service's incidents, and those of services that share its trace. */
  add(anomaly: Anomaly, config: GroupingConfig): readonly GroupingDecision[]
  /** Takes in an anomaly that was decided upon before: for the recent past, after a restart. */
  restoreAnomaly(anomaly: Anomaly): void
  /** Takes in an incident that is not resolved: after a restart, or when it was reopened. */
  restoreIncident(incident: RestoredIncident): void
  /** The incident takes in nothing more, as it was resolved; the named anomalies may be added again. */
  forget(incident: IncidentOfService, anomalies?: readonly Anomaly[]): void
  /** The incident was not made after all. Its anomalies wait for others again; the named ones are forgotten instead, and may be added again. */
  undo(incident: IncidentOfService, anomalies: readonly Anomaly[]): void
  /** The named anomalies may be added again. */
  release(anomalies: readonly Anomaly[]): void
}

/** Spec: Limits, incident grouping. */
const GROUP_SIZE = 3

/** Tenants kept at most; the one longest untouched leaves first. */
const MAX_TENANTS = 5_000
const MAX_SERVICES = 5_000
const MAX_MEMBERS = 50
const MAX_INCIDENTS = 20
/** Affected services that an incident names, and further ones that it only counts. */
export const MAX_AFFECTED = 500
const MAX_FURTHER = 5_000
const MAX_DOCUMENT_IDS = 100_000
/** Anomalies, services and traces of all tenants together. Beyond this the tenant with the most loses the entries that it touched longest ago. */
const MAX_KEPT = 200_000

/** Share of its entries that such a tenant keeps. */
const SHED_TO = 0.9

/** An incident that is not resolved. */
interface KnownIncident {
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

interface ServiceState {
  readonly service: string
  /** In the order of arrival. */
  readonly members: WindowMember[]
  readonly incidents: KnownIncident[]
}

interface TenantState {
  readonly tenant: string
  readonly services: Map<string, ServiceState>
  readonly traces: SharedTraces
  /** Services and their members. */
  kept: number
}

/**
 * Groups anomalies into incidents (Spec: Incident status; Decisions 6). A state machine without clock: the same anomalies in the same order
 * give the same decisions.
 */
export function createGrouping(): Grouping {
  const tenants = new Map<string, TenantState>()
  const seen = new RecentIds(MAX_DOCUMENT_IDS)

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
    while (kept > MAX_KEPT) {
      let heaviest: TenantState | undefined
      for (const tenant of tenants.values()) if (heaviest === undefined || weightOf(tenant) > weightOf(heaviest)) heaviest = tenant
      if (heaviest === undefined) return
      const { traces, services } = heaviest
      changing(heaviest, () => {
        const enough = weightOf(heaviest) * SHED_TO
        while (weightOf(heaviest) > enough) {
          if (traces.size > heaviest.kept) traces.dropOldest()
          else dropService(heaviest, services.keys().next().value!)
        }
      })
    }
  }

  const place = (anomaly: Anomaly) => {
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
  }

  const release = (anomalies: readonly Anomaly[]) => {
    for (const { document_id, id, tenant_id, service } of anomalies) {
      seen.delete(document_id)
      const tenant = tenants.get(tenant_id)
      const members = tenant?.services.get(service)?.members ?? []
      const at = members.findIndex(({ anomaly }) => anomaly.id === id)
      if (tenant === undefined || at < 0) continue
      members.splice(at, 1)
      tenant.kept--
      kept--
    }
  }

  /** The members of its service. */
  const dropIncident = ({ tenant, service, incidentId }: IncidentOfService): readonly WindowMember[] => {
    const { members = [], incidents = [] } = tenants.get(tenant)?.services.get(service) ?? {}
    const at = incidents.findIndex(({ id }) => id === incidentId)
    if (at >= 0) incidents.splice(at, 1)
    return members
  }

  return {
    add(anomaly, config) {
      if (!seen.add(anomaly.document_id)) return [{ kind: 'none', reason: 'duplicate' }]
      const { tenant, service, member } = place(anomaly)
      return [decide(tenant, service, member, config), ...widenOthers(tenant, member)]
    },
    restoreAnomaly(anomaly) {
      if (seen.add(anomaly.document_id)) place(anomaly).member.incidentId = anomaly.incident_id
    },
    restoreIncident(incident) {
      const tenant = tenantState(incident.tenantId)
      const { incidents } = changing(tenant, () => serviceState(tenant, incident.service))
      const at = incidents.findIndex(({ id }) => id === incident.id)
      if (at >= 0) incidents.splice(at, 1)
      push(incidents, toKnown(incident), MAX_INCIDENTS)
    },
    forget(incident, anomalies = []) {
      dropIncident(incident)
      release(anomalies)
    },
    undo(incident, anomalies) {
      release(anomalies)
      for (const member of dropIncident(incident)) if (member.incidentId === incident.incidentId) member.incidentId = undefined
    },
    release,
  }
}

function decide(tenant: TenantState, state: ServiceState, member: WindowMember, config: GroupingConfig): GroupingDecision {
  const near = state.incidents.filter(incident => isWithinLookback(incident, member.atMs, config.lookbackMs)).toReversed()
  const judged = near.map(incident => ({ incident, severity: severityFor(tenant, state, member, incident) }))
  const target =
    judged.find(({ incident, severity }) => severity === incident.severity) ??
    judged.find(({ incident, severity }) => compareSeverity(severity, incident.severity) > 0)
  return target === undefined ? openOrWait(tenant, state, member, config) : join(tenant, state, target.incident, member)
}

/** Lookback goes by event time from the incident's `lastSeen`. A late anomaly may lie before the incident by as much. */
function isWithinLookback({ firstSeenMs, lastSeenMs }: KnownIncident, atMs: number, lookbackMs: number): boolean {
  return atMs <= lastSeenMs + lookbackMs && atMs >= firstSeenMs - lookbackMs
}

/**
 * Severity of the group of a new member, the waiting members and the members of an incident. While one anomaly follows another, the group keeps its
 * severity, also when the member that made it severe is no longer kept.
 */
function severityFor({ traces }: TenantState, state: ServiceState, member: WindowMember, incident: KnownIncident): Severity {
  if (Math.abs(member.atMs - incident.lastAsSevereMs) <= GROUP_WINDOW_MS) return moreSevere(incident.severity, severityAlone(state, member))
  const company = state.members.filter(({ incidentId }) => incidentId === undefined || incidentId === incident.id)
  const group = windowAround(member, company)
  return classifyGroup(group, withOwn(state.service, traces.servicesWith(group)))
}

function severityAlone({ service }: ServiceState, member: WindowMember): Severity {
  return classifyGroup([member], new Set([service]))
}

function classifyGroup(group: readonly WindowMember[], services: ReadonlySet<string>): Severity {
  return classify({ services: services.size, hasFatal: group.some(isFatal), score: highestScore(group) })
}

function openOrWait(tenant: TenantState, state: ServiceState, member: WindowMember, { minimumScore }: GroupingConfig): GroupingDecision {
  const waiting = state.members.filter(({ incidentId }) => incidentId === undefined)
  const group = windowAround(member, waiting)
  if (group.length < GROUP_SIZE && member.anomaly.score < minimumScore) return { kind: 'none', reason: 'waiting' }
  const services = new AffectedServices(withOwn(state.service, tenant.traces.servicesWith(group)))
  const times = group.map(({ atMs }) => atMs)
  const incident: KnownIncident = {
    id: buildIncidentId(tenant.tenant, state.service, earliest(group).anomaly.id),
    services,
    severity: classifyGroup(group, services.named),
    score: highestScore(group),
    hasFatal: group.some(isFatal),
    firstSeenMs: Math.min(...times),
    lastSeenMs: Math.max(...times),
    lastAsSevereMs: Math.max(...times),
  }
  for (const each of group) each.incidentId = incident.id
  push(state.incidents, incident, MAX_INCIDENTS)
  return { kind: 'open', ...change(tenant, state.service, incident, group) }
}

/** The affected services of an incident: the first ones are named, further ones are only counted. */
class AffectedServices {
  readonly named = new Set<string>()
  /** Further services counted since the start; `#before` services were counted before a restart. */
  readonly #further = new Set<string>()
  readonly #before: number

  constructor(services: Iterable<string>, furtherBefore = 0) {
    this.#before = furtherBefore
    for (const service of services) this.add(service)
  }

  get further(): number {
    return this.#before + this.#further.size
  }

  has(service: string): boolean {
    return this.named.has(service) || this.#further.has(service)
  }

  /** Adds a service; true when the service was not known. */
  add(service: string): boolean {
    if (this.has(service)) return false
    if (this.named.size < MAX_AFFECTED) this.named.add(service)
    else if (this.#further.size < MAX_FURTHER) this.#further.add(service)
    else return false
    return true
  }
}

/** A member, and whatever waits in its window, joins an incident. */
function join(tenant: TenantState, state: ServiceState, incident: KnownIncident, member: WindowMember): GroupingDecision {
  const joining = windowAround(
    member,
    state.members.filter(({ incidentId }) => incidentId === undefined),
  )
  const before = incident.severity
  for (const each of joining) each.incidentId = incident.id
  for (const service of tenant.traces.servicesWith(joining)) incident.services.add(service)
  incident.score = Math.max(incident.score, highestScore(joining))
  incident.hasFatal ||= joining.some(isFatal)
  for (const { atMs } of joining) {
    incident.firstSeenMs = Math.min(incident.firstSeenMs, atMs)
    incident.lastSeenMs = Math.max(incident.lastSeenMs, atMs)
  }
  incident.lastAsSevereMs = Math.max(incident.lastAsSevereMs, member.atMs)
  incident.severity = reclassify(incident)
  return { kind: incident.severity === before ? 'fold' : 'raise', ...change(tenant, state.service, incident, joining) }
}

/** Adds the anomaly's service to incidents of other services that share the anomaly's trace. */
function widenOthers(tenant: TenantState, { anomaly, atMs }: WindowMember): readonly GroupingDecision[] {
  if (anomaly.trace_id === undefined) return []
  const decisions: GroupingDecision[] = []
  for (const name of tenant.traces.servicesNear(anomaly.trace_id, atMs)) {
    const state = name === anomaly.service ? undefined : tenant.services.get(name)
    const shared = new Set(state?.members.filter(other => other.anomaly.trace_id === anomaly.trace_id).map(({ incidentId }) => incidentId))
    for (const incident of state?.incidents ?? []) {
      if (!shared.has(incident.id) || incident.services.has(anomaly.service)) continue
      const before = incident.severity
      if (!incident.services.add(anomaly.service)) continue
      incident.severity = reclassify(incident)
      decisions.push({ kind: incident.severity === before ? 'fold' : 'raise', ...change(tenant, name, incident, []) })
    }
  }
  return decisions
}

/** An incident never becomes less severe by itself. */
function reclassify({ severity, services, hasFatal, score }: KnownIncident): Severity {
  return moreSevere(severity, classify({ services: services.named.size, hasFatal, score }))
}

function change(tenant: TenantState, service: string, incident: KnownIncident, members: readonly WindowMember[]): GroupingChange {
  return {
    incidentId: incident.id,
    tenant: tenant.tenant,
    service,
    severity: incident.severity,
    members: members.map(({ anomaly }) => anomaly),
    affectedServices: [...incident.services.named],
    ...(incident.services.further > 0 && { furtherServices: incident.services.further }),
  }
}

/** Two changes of one incident, the second after the first, as one. */
export function mergeChanges(first: GroupingChange, second: GroupingChange): GroupingChange {
  return { ...second, members: [...first.members, ...second.members] }
}

function toKnown({
  id,
  service,
  affectedServices,
  furtherServices = 0,
  severity,
  anomalyScore,
  firstSeen,
  lastSeen,
}: RestoredIncident): KnownIncident {
  return {
    id,
    services: new AffectedServices(withOwn(service, affectedServices), furtherServices),
    severity,
    score: anomalyScore,
    hasFatal: false,
    firstSeenMs: Date.parse(firstSeen),
    lastSeenMs: Date.parse(lastSeen),
    lastAsSevereMs: Date.parse(lastSeen),
  }
}

function serviceState(tenant: TenantState, service: string): ServiceState {
  return touch(
    tenant.services,
    service,
    MAX_SERVICES,
    () => {
      tenant.kept++
      return { service, members: [], incidents: [] }
    },
    ({ members }) => {
      tenant.kept -= 1 + members.length
    },
  )
}

function dropService(tenant: TenantState, service: string): void {
  tenant.kept -= 1 + (tenant.services.get(service)?.members.length ?? 0)
  tenant.services.delete(service)
}

/** A tenant's part of `MAX_KEPT`. */
function weightOf({ kept, traces }: TenantState): number {
  return kept + traces.size
}

function withOwn(service: string, others: Iterable<string>): Set<string> {
  return new Set([service, ...others])
}

function isFatal({ anomaly }: WindowMember): boolean {
  return anomaly.level === 'FATAL'
}

function highestScore(group: readonly WindowMember[]): number {
  return group.reduce((highest, { anomaly }) => Math.max(highest, anomaly.score), 0)
}

/** By event time, then by id, so that the order of arrival does not matter. */
function earliest(group: readonly WindowMember[]): WindowMember {
  return group.reduce((first, each) =>
    each.atMs < first.atMs || (each.atMs === first.atMs && each.anomaly.id < first.anomaly.id) ? each : first,
  )
}

function push<T>(list: T[], item: T, max: number): void {
  if (list.length >= max) list.shift()
  list.push(item)
}

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/incident'))

/** The id of the incident that a group makes, by its earliest anomaly: a replay creates the same incident. */
function buildIncidentId(tenant: string, service: string, earliestAnomalyId: string): string {
  return uuid(`${tenant}:${service}:${earliestAnomalyId}`)
}

/** The entry of a map that is kept in the order of use, and never larger than `max`. */
function touch<T>(map: Map<string, T>, key: string, max: number, create: () => T, onLeft: (value: T) => void): T {
  const value = map.get(key) ?? create()
  map.delete(key)
  if (map.size >= max) {
    const [oldest, left] = map.entries().next().value!
    map.delete(oldest)
    onLeft(left)
  }
  map.set(key, value)
  return value
}
