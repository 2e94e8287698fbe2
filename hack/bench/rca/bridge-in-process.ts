/** The bridge's work on requests, without servers: ETL, detector, grouping and the rule of `recurring`, over records in the order of time. */
import { partitionOf } from '../../../dataplane/adapters/bus/partitioner.ts'
import type { Anomaly } from '../../../dataplane/domain/anomalies/anomaly.ts'
import type { KeptHabits } from '../../../dataplane/domain/anomalies/signals/habits.ts'
import { DEFAULT_ZSCORE_CONFIG } from '../../../dataplane/domain/anomalies/zscore.ts'
import type { MlFeatures } from '../../../dataplane/domain/features/enrichment.ts'
import { computeFeatures } from '../../../dataplane/domain/features/service-features.ts'
import { createGrouping, type GroupingChange } from '../../../dataplane/domain/incidents/grouping.ts'
import { buildIncident, foldIntoIncident } from '../../../dataplane/domain/incidents/incident.ts'
import type { Incident } from '../../../dataplane/domain/incidents/incident-fields.ts'
import {
  BASELINE_PARTS,
  type IncidentBefore,
  isRecurring,
  MAX_BASELINE_MS,
  type RecurrenceBaseline,
  SLICE_MS,
} from '../../../dataplane/domain/incidents/recurring.ts'
import type { TicketedIncident } from '../../../dataplane/domain/tickets/incident-tickets.ts'
import { createDetector, type DetectorInput } from '../../../dataplane/pipeline/steps/detect.ts'
import { createEtl } from '../../../dataplane/pipeline/steps/flatten/etl.ts'
import { REWIND_RECORDS } from '../../../dataplane/pipeline/work/anomaly-work.ts'

const PARTITIONS = 6
/** Records of a partition that are read again after a start: a tenth, as those of a busier system span less time. */
const REREAD = REWIND_RECORDS / 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const GROUPING = { minimumScore: 0.85, lookbackMs: 15 * MINUTE_MS }

export interface OpenedIncident {
  incident: TicketedIncident
  readonly service: string
  readonly firstSeenMs: number
  recurring: boolean
  /** Its time before, as far as it was read. */
  baseline?: RecurrenceBaseline
  /** When it was opened, or ceased to recur. */
  loudMs: number
}

export interface BridgeOptions {
  readonly tenant: string
  /** Features are computed each full hour, as the scheduler does. Default: false. */
  readonly hasFeatures?: boolean
  /** Starts anew each so many ms of the records' time, as a bridge that is deployed again. Default: never. */
  readonly restartMs?: number
  /** Habits of services outlive a start. Default: true. */
  readonly keepsHabits?: boolean
  /** Called for each change of an incident, with the time of the record that brought it about. */
  readonly onChange?: (incident: OpenedIncident, timeMs: number) => void
}

export class BridgeInProcess {
  readonly #etl
  #detector = createDetector(DEFAULT_ZSCORE_CONFIG)
  readonly #past = new Past()
  readonly #onChange
  #grouping = createGrouping()
  #incidents = new Map<string, OpenedIncident>()
  #features: ReadonlyMap<string, MlFeatures> = new Map()
  #nextFeaturesMs: number
  readonly #restartMs: number
  #nextRestartMs = Number.NaN
  readonly #keepsHabits: boolean
  readonly #habits = new Map<number, KeptHabits>()
  /** By partition, those that are read again after a start. */
  readonly #last = Array.from({ length: PARTITIONS }, (): DetectorInput[] => [])

  constructor({ tenant, hasFeatures = false, restartMs = Number.POSITIVE_INFINITY, keepsHabits = true, onChange }: BridgeOptions) {
    this.#restartMs = restartMs
    this.#keepsHabits = keepsHabits
    this.#onChange = onChange
    this.#nextFeaturesMs = hasFeatures ? 0 : Number.POSITIVE_INFINITY
    this.#etl = createEtl({
      ...{ defaultTenant: tenant, retentionDays: 30 },
      lookupFeatures: (_, service) => this.#features.get(service),
    })
  }

  get incidents(): ReadonlyMap<string, OpenedIncident> {
    return this.#incidents
  }

  /** As if somebody had looked at all incidents and resolved them. */
  resolveAll(): void {
    this.#grouping = createGrouping()
    this.#incidents = new Map()
  }

  /** Takes an OTLP request. */
  take(request: string, receivedAtMs: number): void {
    for (const { key = '', value, headers = {} } of this.#etl.process(Buffer.from(request), receivedAtMs).records) {
      const { service, pattern_id, level, '@timestamp': timestamp } = JSON.parse(Buffer.from(value).toString()) as Stored
      const timeMs = Date.parse(timestamp)
      if (timeMs >= this.#nextFeaturesMs) this.#computeFeatures(timeMs)
      this.#past.add(service, { pattern: pattern_id, isError: level === 'ERROR' || level === 'FATAL' }, timeMs)
      const input = { key, value, headers, partition: partitionOf(key, PARTITIONS) }
      if (Number.isNaN(this.#nextRestartMs)) this.#nextRestartMs = timeMs + this.#restartMs
      if (timeMs >= this.#nextRestartMs) this.#restart()
      if (this.#restartMs < Number.POSITIVE_INFINITY) this.#remember(input)
      const outcome = this.#detector.process(input)
      if (outcome.kind === 'emit') this.#group(outcome.value.anomaly, timeMs)
      for (const { anomaly } of this.#detector.takeSilent()) this.#group(anomaly, timeMs)
    }
  }

  #remember(input: DetectorInput & { readonly partition: number }): void {
    const last = this.#last[input.partition]!
    last.push({ ...input, value: Uint8Array.from(input.value) })
    if (last.length >= 2 * REREAD) last.splice(0, last.length - REREAD)
  }

  #restart(): void {
    this.#nextRestartMs += this.#restartMs
    for (const kept of this.#detector.takeHabits()) this.#habits.set(kept.partition, kept)
    this.#detector = createDetector(DEFAULT_ZSCORE_CONFIG)
    if (this.#keepsHabits) for (const kept of this.#habits.values()) this.#detector.restoreHabits(kept)
    for (const last of this.#last) for (const input of last.slice(-REREAD)) this.#detector.warm(input)
  }

  #computeFeatures(timeMs: number): void {
    const hourMs = Math.floor(timeMs / HOUR_MS) * HOUR_MS
    this.#features = this.#past.features(hourMs)
    this.#nextFeaturesMs = hourMs + HOUR_MS
  }

  #group(anomaly: Anomaly, timeMs: number): void {
    this.#past.addAnomaly(anomaly.service, timeMs)
    for (const decision of this.#grouping.add(anomaly, GROUPING)) if (decision.kind !== 'none') this.#change(decision, timeMs)
  }

  #change(change: GroupingChange, timeMs: number): void {
    const { incidentId, service, members } = change
    const now = new Date(timeMs).toISOString()
    const known = this.#incidents.get(incidentId)
    const firstSeenMs = known?.firstSeenMs ?? Math.min(...members.map(({ timestamp }) => Date.parse(timestamp)))
    const next: OpenedIncident = known ?? {
      ...{ incident: buildIncident(change, now), service, firstSeenMs },
      ...{ recurring: true, loudMs: timeMs },
    }
    const isNews = next.recurring && members.length > 0 && !this.#recurs(next, members, known?.incident)
    if (isNews) Object.assign(next, { recurring: false, loudMs: timeMs })
    const incident: Incident = known === undefined ? next.incident : foldIntoIncident(next.incident, change, now)
    next.incident = { ...incident, recurring: next.recurring }
    this.#incidents.set(incidentId, next)
    this.#onChange?.(next, timeMs)
  }

  #recurs(incident: OpenedIncident, members: GroupingChange['members'], before?: IncidentBefore): boolean {
    const patterns = new Set(members.map(({ pattern_id }) => pattern_id))
    const { counts } = incident.baseline ?? { counts: new Map() }
    if (incident.baseline === undefined || [...patterns].some(pattern => !counts.has(pattern)))
      incident.baseline = this.#past.before(incident.service, incident.firstSeenMs, new Set([...counts.keys(), ...patterns]))
    return isRecurring(members, incident.baseline, before)
  }
}

interface Stored {
  readonly service: string
  readonly pattern_id: string
  readonly level: string
  readonly '@timestamp': string
}

interface PastOfService {
  readonly firstMs: number
  readonly patterns: Map<string, number[]>
  readonly hours: Map<number, { records: number; errors: number }>
  readonly anomalies: number[]
}

/** The time before, as the search store knows it. */
class Past {
  readonly #services = new Map<string, PastOfService>()

  add(service: string, { pattern, isError }: { readonly pattern: string; readonly isError: boolean }, timeMs: number): void {
    const known = this.#of(service, timeMs)
    const times = known.patterns.get(pattern)
    if (times === undefined) known.patterns.set(pattern, [timeMs])
    else times.push(timeMs)
    const hour = Math.floor(timeMs / HOUR_MS)
    const counts = known.hours.get(hour) ?? { records: 0, errors: 0 }
    known.hours.set(hour, counts)
    counts.records++
    if (isError) counts.errors++
  }

  addAnomaly(service: string, timeMs: number): void {
    this.#of(service, timeMs).anomalies.push(timeMs)
  }

  before(service: string, toMs: number, asked: ReadonlySet<string>): RecurrenceBaseline {
    const { firstMs = toMs, patterns = new Map<string, number[]>() } = this.#services.get(service) ?? {}
    const fromMs = Math.max(firstMs, toMs - MAX_BASELINE_MS)
    const slices = new Map<string, Map<number, number>>()
    const counts = [...asked].map(pattern => {
      const ofPattern = new Map<number, number>()
      slices.set(pattern, ofPattern)
      const parts = new Array<number>(BASELINE_PARTS).fill(0)
      for (const timeMs of patterns.get(pattern) ?? [])
        if (timeMs >= fromMs && timeMs < toMs) {
          parts[Math.floor(((timeMs - fromMs) / (toMs - fromMs)) * BASELINE_PARTS)]!++
          const slice = timeMs - (timeMs % SLICE_MS)
          ofPattern.set(slice, (ofPattern.get(slice) ?? 0) + 1)
        }
      return [pattern, parts] as const
    })
    return { fromMs, toMs, counts: new Map(counts), slices }
  }

  /** Features of the hour that ended at `hourMs`. */
  features(hourMs: number): ReadonlyMap<string, MlFeatures> {
    return new Map(
      [...this.#services].map(([service, { hours, anomalies }]) => {
        const { records, errors } = hours.get(hourMs / HOUR_MS - 1) ?? { records: 0, errors: 0 }
        const ofDay = anomalies.filter(timeMs => timeMs >= hourMs - DAY_MS && timeMs < hourMs).length
        return [service, computeFeatures({ records, errors, latencies: [], anomalies: ofDay })]
      }),
    )
  }

  #of(service: string, timeMs: number): PastOfService {
    const known = this.#services.get(service) ?? { firstMs: timeMs, patterns: new Map(), hours: new Map(), anomalies: [] }
    this.#services.set(service, known)
    return known
  }
}
