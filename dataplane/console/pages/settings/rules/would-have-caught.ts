/** Incidents that thresholds would have made of the anomalies of the last day. */
import type { Severity } from '../../../../contract/platforms.ts'
import type { Anomaly } from '../../../../domain/anomalies/anomaly.ts'
import { GROUP_WINDOW_MS } from '../../../../domain/incidents/anomaly-config.ts'
import { classify } from '../../../../domain/incidents/severity.ts'

export type PastAnomaly = Pick<
  Anomaly,
  'timestamp' | 'tenant_id' | 'service' | 'level' | 'trace_id' | 'score' | 'anomaly_score' | 'detectors'
>

export interface Thresholds {
  /** Rule score from which a single anomaly makes an incident. */
  readonly minimumScore: number
  readonly lookbackMs: number
  /** Z-score from which the bridge speaks. Undefined: as it was. */
  readonly anomalyThreshold?: number
}

export interface Caught {
  readonly anomalies: number
  readonly incidents: number
  readonly bySeverity: Readonly<Record<Severity, number>>
  /** The services with most incidents first. */
  readonly byService: readonly { readonly service: string; readonly incidents: number }[]
}

/** Spec: Limits, incident grouping. */
const GROUP_SIZE = 3

/** Services with anomalies in a trace, by tenant and trace. */
type Traces = ReadonlyMap<string, ReadonlySet<string>>

interface Open {
  readonly services: Set<string>
  hasFatal: boolean
  score: number
  lastMs: number
}

interface Service {
  /** Those that wait for company. */
  waiting: { readonly atMs: number; readonly anomaly: PastAnomaly }[]
  readonly incidents: Open[]
}

/**
 * Counts the incidents that the bridge would have made, if none was resolved meanwhile. Services that share traces make an incident severe, and each has
 * its own, as in the bridge. Anomalies that a lower Z-score threshold would have found are nowhere stored, so it counts as the one that was.
 */
export function countCaught(anomalies: readonly PastAnomaly[], { minimumScore, lookbackMs, anomalyThreshold }: Thresholds): Caught {
  const services = new Map<string, Service>()
  const found = anomalies.filter(anomaly => anomalyThreshold === undefined || isFound(anomaly, anomalyThreshold))
  const inOrder = found.map(anomaly => ({ anomaly, atMs: Date.parse(anomaly.timestamp) })).sort((a, b) => a.atMs - b.atMs)
  const traces = servicesByTrace(found)
  for (const { anomaly, atMs } of inOrder) {
    const key = `${anomaly.tenant_id}/${anomaly.service}`
    const service: Service = services.get(key) ?? { waiting: [], incidents: [] }
    services.set(key, service)
    takeIn(service, anomaly, atMs, { minimumScore, lookbackMs, traces })
  }
  const bySeverity: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: 0 }
  const byService = new Map<string, number>()
  for (const [key, { incidents }] of services) {
    for (const { services: affected, hasFatal, score } of incidents) bySeverity[classify({ services: affected.size, hasFatal, score })]++
    const name = key.slice(key.indexOf('/') + 1)
    if (incidents.length > 0) byService.set(name, (byService.get(name) ?? 0) + incidents.length)
  }
  return {
    anomalies: found.length,
    incidents: Object.values(bySeverity).reduce((sum, count) => sum + count, 0),
    bySeverity,
    byService: [...byService].map(([service, incidents]) => ({ service, incidents })).sort((a, b) => b.incidents - a.incidents),
  }
}

function isFound({ detectors, anomaly_score }: PastAnomaly, threshold: number): boolean {
  return detectors.includes('rule') || anomaly_score >= threshold
}

function servicesByTrace(anomalies: readonly PastAnomaly[]): Traces {
  const traces = new Map<string, Set<string>>()
  for (const anomaly of anomalies) {
    if (anomaly.trace_id === undefined) continue
    const key = traceKey(anomaly)
    traces.set(key, (traces.get(key) ?? new Set()).add(anomaly.service))
  }
  return traces
}

function traceKey({ tenant_id, trace_id }: PastAnomaly): string {
  return `${tenant_id}/${trace_id}`
}

interface Rules {
  readonly minimumScore: number
  readonly lookbackMs: number
  readonly traces: Traces
}

function takeIn(service: Service, anomaly: PastAnomaly, atMs: number, { minimumScore, lookbackMs, traces }: Rules): void {
  service.waiting = service.waiting.filter(each => atMs - each.atMs <= GROUP_WINDOW_MS)
  service.waiting.push({ anomaly, atMs })
  let incident = service.incidents.findLast(({ lastMs }) => atMs <= lastMs + lookbackMs)
  if (incident === undefined) {
    if (service.waiting.length < GROUP_SIZE && anomaly.score < minimumScore) return
    incident = { services: new Set(), hasFatal: false, score: 0, lastMs: atMs }
    service.incidents.push(incident)
  }
  for (const { anomaly: joining } of service.waiting) join(incident, joining, traces)
  incident.lastMs = atMs
  service.waiting = []
}

function join(incident: Open, anomaly: PastAnomaly, traces: Traces): void {
  incident.services.add(anomaly.service)
  for (const service of traces.get(traceKey(anomaly)) ?? []) incident.services.add(service)
  incident.hasFatal ||= anomaly.level === 'FATAL'
  incident.score = Math.max(incident.score, anomaly.score)
}

/** In one sentence. */
export function compareCaught(draft: Caught, current: Caught): string {
  const difference = draft.incidents - current.incidents
  if (difference === 0) return 'As many incidents as with the stored thresholds.'
  const count = Math.abs(difference)
  return `${count} ${difference > 0 ? 'more' : 'fewer'} ${count === 1 ? 'incident' : 'incidents'} than with the stored thresholds.`
}
