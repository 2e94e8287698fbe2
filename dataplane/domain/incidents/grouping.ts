/** When anomalies of a service make an incident, and which incident takes in the next one (Spec: Limits; Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { Anomaly } from '../anomalies/anomaly.ts'
import { AffectedServices } from './affected-services.ts'
import { GROUP_WINDOW_MS } from './anomaly-config.ts'
import { type GroupedAnomaly, type WindowMember, windowAround } from './anomaly-window.ts'
import {
  addIncident,
  createGroupingMemory,
  dropIncident,
  type KnownIncident,
  type ServiceState,
  type TenantState,
} from './grouping-memory.ts'
import type { Incident } from './incident-fields.ts'
import { classify, compareSeverity, moreSevere } from './severity.ts'

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
  /** Whether the incident takes in anomalies: false once it is forgotten, for want of room, too. */
  keeps(incident: IncidentOfService): boolean
  /** The incident takes in nothing more, as it was resolved; the named anomalies may be added again. */
  forget(incident: IncidentOfService, anomalies?: readonly Anomaly[]): void
  /** The incident was not made after all. Its anomalies wait for others again; the named ones are forgotten instead, and may be added again. */
  undo(incident: IncidentOfService, anomalies: readonly Anomaly[]): void
  /** The named anomalies may be added again. */
  release(anomalies: readonly Anomaly[]): void
}

/** Spec: Limits, incident grouping. */
export const GROUP_SIZE = 3
const MAX_DOCUMENT_IDS = 100_000

/**
 * Groups anomalies into incidents (Spec: Incident status; Decisions 6). A state machine without clock: the same anomalies in the same order
 * give the same decisions.
 */
export function createGrouping(): Grouping {
  const memory = createGroupingMemory()
  const seen = new RecentIds(MAX_DOCUMENT_IDS)

  const release = (anomalies: readonly Anomaly[]) => {
    for (const anomaly of anomalies) {
      seen.delete(anomaly.document_id)
      memory.drop(anomaly)
    }
  }

  /** The members of its service. */
  const end = ({ tenant, service, incidentId }: IncidentOfService): readonly WindowMember[] => {
    const state = memory.find(tenant, service)
    if (state === undefined) return []
    dropIncident(state, incidentId)
    return state.members
  }

  return {
    add(anomaly, config) {
      if (!seen.add(anomaly.document_id)) return [{ kind: 'none', reason: 'duplicate' }]
      const { tenant, service, member } = memory.place(anomaly)
      return [decide(tenant, service, member, config), ...widenOthers(tenant, member)]
    },
    restoreAnomaly(anomaly) {
      if (seen.add(anomaly.document_id)) memory.place(anomaly).member.incidentId = anomaly.incident_id
    },
    restoreIncident: incident => memory.keepIncident(incident.tenantId, incident.service, toKnown(incident)),
    keeps: ({ tenant, service, incidentId }) => memory.find(tenant, service)?.incidents.some(({ id }) => id === incidentId) ?? false,
    forget(incident, anomalies = []) {
      end(incident)
      release(anomalies)
    },
    undo(incident, anomalies) {
      release(anomalies)
      for (const member of end(incident)) if (member.incidentId === incident.incidentId) member.incidentId = undefined
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
  addIncident(state, incident)
  return { kind: 'open', ...change(tenant, state.service, incident, group) }
}

/** A member, and all that wait in its window, join an incident. */
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

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/incident'))

/** The id of the incident that a group makes, by its earliest anomaly: a replay creates the same incident. */
function buildIncidentId(tenant: string, service: string, earliestAnomalyId: string): string {
  return uuid(`${tenant}:${service}:${earliestAnomalyId}`)
}
