/** Incidents that thresholds would have made of the anomalies of the last day. */
import type { Severity } from '../../../../contract/platforms.ts'
import type { Anomaly } from '../../../../domain/anomalies/anomaly.ts'
import { GROUP_WINDOW_MS } from '../../../../domain/incidents/anomaly-window.ts'
import { classify, moreSevere } from '../../../../domain/incidents/severity.ts'

export type PastAnomaly = Pick<Anomaly, 'timestamp' | 'tenant_id' | 'service' | 'level' | 'score' | 'anomaly_score' | 'detectors'>

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

interface Open {
  severity: Severity
  lastMs: number
}

interface Service {
  /** Those that wait for company. */
  waiting: { readonly atMs: number; readonly anomaly: PastAnomaly }[]
  readonly incidents: Open[]
}

/**
 * Counts the incidents that the bridge would have made, each service for itself: those that share traces are not put together, and none is resolved
 * meanwhile. Anomalies that a lower Z-score threshold would have found are nowhere stored, so it counts as the one that was.
 */
export function countCaught(anomalies: readonly PastAnomaly[], { minimumScore, lookbackMs, anomalyThreshold }: Thresholds): Caught {
  const services = new Map<string, Service>()
  const found = anomalies.filter(anomaly => anomalyThreshold === undefined || isFound(anomaly, anomalyThreshold))
  const inOrder = found.map(anomaly => ({ anomaly, atMs: Date.parse(anomaly.timestamp) })).sort((a, b) => a.atMs - b.atMs)
  for (const { anomaly, atMs } of inOrder) {
    const key = `${anomaly.tenant_id}/${anomaly.service}`
    const service: Service = services.get(key) ?? { waiting: [], incidents: [] }
    services.set(key, service)
    takeIn(service, anomaly, atMs, { minimumScore, lookbackMs })
  }
  const bySeverity: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: 0 }
  const byService = new Map<string, number>()
  for (const [key, { incidents }] of services) {
    for (const { severity } of incidents) bySeverity[severity]++
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

function takeIn(
  service: Service,
  anomaly: PastAnomaly,
  atMs: number,
  { minimumScore, lookbackMs }: Omit<Thresholds, 'anomalyThreshold'>,
): void {
  service.waiting = service.waiting.filter(each => atMs - each.atMs <= GROUP_WINDOW_MS)
  const alone = severityOf([anomaly])
  const incident = service.incidents.findLast(({ lastMs }) => atMs <= lastMs + lookbackMs)
  if (incident !== undefined) {
    incident.severity = moreSevere(incident.severity, alone)
    incident.lastMs = atMs
    service.waiting = []
    return
  }
  service.waiting.push({ anomaly, atMs })
  if (service.waiting.length < GROUP_SIZE && anomaly.score < minimumScore) return
  service.incidents.push({ severity: severityOf(service.waiting.map(each => each.anomaly)), lastMs: atMs })
  service.waiting = []
}

function severityOf(group: readonly PastAnomaly[]): Severity {
  const score = Math.max(...group.map(anomaly => anomaly.score))
  return classify({ services: 1, hasFatal: group.some(({ level }) => level === 'FATAL'), score })
}

/** In one sentence. */
export function compareCaught(draft: Caught, current: Caught): string {
  const difference = draft.incidents - current.incidents
  if (difference === 0) return 'As many incidents as with the stored thresholds.'
  const count = Math.abs(difference)
  return `${count} ${difference > 0 ? 'more' : 'fewer'} ${count === 1 ? 'incident' : 'incidents'} than with the stored thresholds.`
}
