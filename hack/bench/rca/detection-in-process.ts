/** Detection of labelled faults without servers: what the bridge does, in one process, over the records that `benchDetection` sends. */
import { partitionOf } from '../../../dataplane/adapters/bus/partitioner.ts'
import type { Anomaly } from '../../../dataplane/domain/anomalies/anomaly.ts'
import { DEFAULT_ZSCORE_CONFIG } from '../../../dataplane/domain/anomalies/zscore.ts'
import { createGrouping, type GroupingChange } from '../../../dataplane/domain/incidents/grouping.ts'
import { BASELINE_PARTS, isRecurring } from '../../../dataplane/domain/incidents/recurring.ts'
import { createDetector } from '../../../dataplane/pipeline/steps/detect.ts'
import { createEtl } from '../../../dataplane/pipeline/steps/flatten/etl.ts'
import { type DetectedFault, printDetection, RESOLVED_AT } from './detection.ts'
import { BASELINES, type BaselineKind, createTimelines, MINUTE_MS, type TimedRecord, toRequest } from './fault-timeline.ts'
import type { FaultData, LabelledFault } from './labelled-faults.ts'

const PARTITIONS = 6
const GROUPING = { minimumScore: 0.85, lookbackMs: 15 * MINUTE_MS }
const RECORDS_AT_ONCE = 200
const AFTER_MS = 3 * MINUTE_MS
const TENANT = 'detect'
const AT_MS = Date.UTC(2026, 0, 1, 12)

export function measureDetection(data: FaultData, faults: readonly LabelledFault[], kinds: readonly BaselineKind[] = BASELINES): void {
  const timelines = createTimelines(data)
  for (const kind of kinds)
    printDetection(
      kind,
      faults.map(fault => {
        const records = timelines.of(fault, kind).filter(({ offsetMs }) => offsetMs < AFTER_MS)
        return { fault, touched: timelines.touched(fault), ...detect(records) }
      }),
    )
}

interface Opened {
  readonly service: string
  recurring: boolean
  readonly firstSeenMs: number
  /** When it was opened, or ceased to recur, from the injection. */
  atMs: number
}

function detect(records: readonly TimedRecord[]): Pick<DetectedFault, 'seen' | 'recurring'> {
  const etl = createEtl({ defaultTenant: TENANT, retentionDays: 30, lookupFeatures: () => undefined })
  const detector = createDetector(DEFAULT_ZSCORE_CONFIG)
  const past = new Past()
  let grouping = createGrouping()
  let incidents = new Map<string, Opened>()

  const change = ({ incidentId, service, members }: GroupingChange, atMs: number) => {
    const known = incidents.get(incidentId)
    const firstSeenMs = known?.firstSeenMs ?? Math.min(...members.map(({ timestamp }) => Date.parse(timestamp)))
    const recurs = () => isRecurring(members, past.before(service, firstSeenMs, new Set(members.map(({ pattern_id }) => pattern_id))))
    if (known === undefined) incidents.set(incidentId, { service, firstSeenMs, recurring: recurs(), atMs })
    else if (known.recurring && members.length > 0 && !recurs()) Object.assign(known, { recurring: false, atMs })
  }
  const take = (anomaly: Anomaly, atMs: number) => {
    for (const decision of grouping.add(anomaly, GROUPING)) if (decision.kind !== 'none') change(decision, atMs)
  }

  let isResolved = false
  for (let from = 0; from < records.length; from += RECORDS_AT_ONCE) {
    const chunk = records.slice(from, from + RECORDS_AT_ONCE)
    if (!isResolved && chunk[0]!.offsetMs >= RESOLVED_AT * MINUTE_MS) {
      isResolved = true
      grouping = createGrouping()
      incidents = new Map()
    }
    const flat = etl.process(Buffer.from(toRequest(chunk, TENANT, AT_MS)), AT_MS + chunk.at(-1)!.offsetMs).records
    for (const { key = '', value, headers = {} } of flat) {
      const { service, pattern_id, '@timestamp': timestamp } = JSON.parse(Buffer.from(value).toString()) as Stored
      const timeMs = Date.parse(timestamp)
      past.add(service, pattern_id, timeMs)
      const outcome = detector.process({ key, value, headers, partition: partitionOf(key, PARTITIONS) })
      if (outcome.kind === 'emit') take(outcome.value.anomaly, timeMs - AT_MS)
      for (const { anomaly } of detector.takeSilent()) take(anomaly, timeMs - AT_MS)
    }
  }
  const all = [...incidents]
  return {
    seen: new Map(
      all
        .filter(([, { recurring }]) => !recurring)
        .map(([id, { service, atMs }]) => [id, { incident: { service }, minute: atMs < 0 ? 0 : Math.floor(atMs / MINUTE_MS) + 1 }]),
    ),
    recurring: all.filter(([, { recurring }]) => recurring).length,
  }
}

interface Stored {
  readonly service: string
  readonly pattern_id: string
  readonly '@timestamp': string
}

/** The time before, as the search store knows it. */
class Past {
  readonly #services = new Map<string, { firstMs: number; readonly patterns: Map<string, number[]> }>()

  add(service: string, pattern: string, timeMs: number): void {
    const known = this.#services.get(service) ?? { firstMs: timeMs, patterns: new Map<string, number[]>() }
    this.#services.set(service, known)
    known.firstMs = Math.min(known.firstMs, timeMs)
    const times = known.patterns.get(pattern)
    if (times === undefined) known.patterns.set(pattern, [timeMs])
    else times.push(timeMs)
  }

  before(service: string, toMs: number, asked: ReadonlySet<string>) {
    const { firstMs: fromMs = toMs, patterns = new Map<string, number[]>() } = this.#services.get(service) ?? {}
    const counts = [...asked].map(pattern => {
      const parts = new Array<number>(BASELINE_PARTS).fill(0)
      for (const timeMs of patterns.get(pattern) ?? [])
        if (timeMs < toMs) parts[Math.floor(((timeMs - fromMs) / (toMs - fromMs)) * BASELINE_PARTS)]!++
      return [pattern, parts] as const
    })
    return { fromMs, toMs, counts: new Map(counts) }
  }
}
