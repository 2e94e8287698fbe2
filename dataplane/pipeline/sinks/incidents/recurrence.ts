/** Tells whether incidents are recurring, from the records that the search store has of the time before (Decisions 6). */
import type { GroupedAnomaly } from '../../../domain/incidents/anomaly-window.ts'
import type { GroupingChange } from '../../../domain/incidents/grouping.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import {
  BASELINE_PARTS,
  burstPatterns,
  type IncidentBefore,
  isRecurring,
  MAX_BASELINE_MS,
  MIN_BASELINE_MS,
  type RecurrenceBaseline,
  SLICE_MS,
} from '../../../domain/incidents/recurring.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import { portionsOf } from '../../../limits/portions-of.ts'
import { perMinute, TokenBucket } from '../../../limits/token-bucket.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { searchLogs } from '../../search-logs.ts'
import { forEachTenant } from '../tenants/tenant-failure.ts'

export interface Recurrence {
  /** The ids of those new incidents that are recurring. None where the store does not tell in time: an incident does not wait for the store. */
  ofNew(opened: readonly GroupingChange[]): Promise<ReadonlySet<string>>
  /** Whether an incident that takes in more is still recurring; false stays false. */
  afterFold(incident: Incident, folded: GroupingChange): Promise<boolean>
}

export interface RecurrenceDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** An answer of the store is waited for so long; then it is asked nothing for a while, and incidents count as not recurring. */
const MAX_WAIT_MS = 3_000
const PAUSE_MS = 10_000
/** Baselines of recurring incidents, the oldest leaving first. */
const MAX_BASELINES = 1_000
/** Services that are looked for in one request. */
const MAX_SERVICES = 250
/** Baselines that are read for a tenant's incidents; further ones count as not recurring. */
const BASELINES_A_MINUTE = 100
/** Tenants whose share is known, the one that was asked about longest ago leaving first. */
const MAX_TENANTS = 5_000
/** Patterns of an incident that are asked for; an incident of more is not recurring. */
const MAX_PATTERNS = 20
/** Patterns that may come in bursts, for which slices are read; an incident of more is not recurring. */
const MAX_BURST_PATTERNS = 5

export function createRecurrence({ store, clock, signal }: RecurrenceDeps): Recurrence {
  const baselines = new Map<string, RecurrenceBaseline>()
  const budgets = new Map<string, TokenBucket>()
  let askAgainMs = Number.NEGATIVE_INFINITY

  const inTime = async <T>(answer: Promise<T>): Promise<T | undefined> => {
    const late = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)])
    const ended = new Promise<undefined>(resolve => late.addEventListener('abort', () => resolve(undefined), { once: true }))
    // The store did not answer; an incident does not wait for it.
    return Promise.race([answer.catch(() => undefined), ended])
  }

  /** A tenant's many incidents must not take the time that the store has for the others'. */
  const mayAsk = (tenant: string): boolean => {
    const nowMs = clock.nowMs()
    const budget = budgets.get(tenant) ?? new TokenBucket(perMinute(BASELINES_A_MINUTE), nowMs)
    keepBounded(budgets, tenant, budget, MAX_TENANTS)
    return budget.take(nowMs)
  }

  /** The incidents whose services have records from long enough before. */
  const withPast = async (incidents: readonly AskedOfNew[]): Promise<readonly AskedOfNew[]> => {
    const old: AskedOfNew[] = []
    for (const some of portionsOf(incidents, MAX_SERVICES)) {
      if (monotonicMs(clock) < askAgainMs) break
      const earliest = await inTime(readEarliest(store, some))
      if (earliest === undefined) askAgainMs = monotonicMs(clock) + PAUSE_MS
      else old.push(...some.filter(each => each.firstSeenMs - (earliest.get(keyOf(each)) ?? each.firstSeenMs) >= MIN_BASELINE_MS))
    }
    return old
  }

  const ask = async (incident: Asked, members: readonly GroupedAnomaly[], before?: IncidentBefore): Promise<boolean> => {
    if (members.length === 0 || members.some(member => member.signal !== undefined)) return members.length === 0
    const patterns = [...new Set(members.map(({ pattern_id }) => pattern_id))]
    if (patterns.length > MAX_PATTERNS) return false
    let baseline = baselines.get(incident.id)
    if (baseline === undefined || patterns.some(pattern => !baseline!.counts.has(pattern))) {
      if (monotonicMs(clock) < askAgainMs || !mayAsk(incident.tenant)) return false
      baseline = await inTime(
        readBaseline(store, incident, [...new Set([...(baseline?.counts.keys() ?? []), ...patterns])].slice(-MAX_PATTERNS)),
      )
      if (baseline === undefined) {
        askAgainMs = monotonicMs(clock) + PAUSE_MS
        return false
      }
    }
    const bursts = burstPatterns(members, baseline, before).filter(pattern => !baseline!.slices?.has(pattern))
    if (bursts.length > MAX_BURST_PATTERNS) return false
    if (bursts.length > 0) {
      const slices = await inTime(readSlices(store, incident, baseline, bursts))
      if (slices === undefined) askAgainMs = clock.nowMs() + PAUSE_MS
      else baseline = { ...baseline, slices: new Map([...(baseline.slices ?? []), ...slices]) }
    }
    const recurring = isRecurring(members, baseline, before)
    baselines.delete(incident.id)
    if (!recurring) return false
    if (baselines.size >= MAX_BASELINES) baselines.delete(baselines.keys().next().value!)
    baselines.set(incident.id, baseline)
    return true
  }

  return {
    async ofNew(opened) {
      const asked = opened.map(({ incidentId: id, tenant, service, members }) => ({
        ...{ id, tenant, service, members },
        firstSeenMs: Math.min(...members.map(({ timestamp }) => Date.parse(timestamp))),
      }))
      const recurring = new Set<string>()
      const old = await withPast(asked.filter(({ members }) => members.every(({ signal }) => signal === undefined)))
      await forEachTenant(old, async incident => {
        if (await ask(incident, incident.members)) recurring.add(incident.id)
      })
      return recurring
    },
    async afterFold(incident, { members }) {
      const { id, tenantId: tenant, service, firstSeen, recurring } = incident
      return recurring === true && (await ask({ id, tenant, service, firstSeenMs: Date.parse(firstSeen) }, members, incident))
    },
  }
}

interface Asked {
  readonly id: string
  readonly tenant: string
  readonly service: string
  readonly firstSeenMs: number
}

interface AskedOfNew extends Asked {
  readonly members: readonly GroupedAnomaly[]
}

const keyOf = ({ tenant, service }: Pick<Asked, 'tenant' | 'service'>) => `${tenant}/${service}`

/** By tenant and service, the time of the earliest record that may count for the baseline of one of the incidents, or an earlier one. */
async function readEarliest(store: SearchStore, incidents: readonly Asked[]): Promise<ReadonlyMap<string, number>> {
  const tenants = [...new Set(incidents.map(({ tenant }) => tenant))]
  const services = [...new Set(incidents.map(({ service }) => service))]
  const times = incidents.map(({ firstSeenMs }) => firstSeenMs)
  const [fromMs, toMs] = [Math.min(...times) - MAX_BASELINE_MS, Math.max(...times)]
  const before = range(fromMs, toMs)
  const first = { min: { field: 'timestamp' } }
  const { aggregations } = await searchLogs(store, {
    ...{ fromMs, toMs },
    body: {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter: [{ terms: { tenant_id: tenants } }, { terms: { service: services } }, before] } },
      aggs: {
        tenants: {
          terms: { field: 'tenant_id', size: tenants.length },
          aggs: { services: { terms: { field: 'service', size: services.length }, aggs: { first } } },
        },
      },
    },
  })
  const { buckets } = (aggregations as unknown as Earliest | undefined)?.tenants ?? { buckets: [] }
  return new Map(
    buckets.flatMap(({ key: tenant, services }) =>
      services.buckets.flatMap(({ key: service, first: { value } }) => (value === null ? [] : [[keyOf({ tenant, service }), value]])),
    ),
  )
}

interface Earliest {
  readonly tenants: {
    readonly buckets: readonly {
      readonly key: string
      readonly services: { readonly buckets: readonly { readonly key: string; readonly first: { readonly value: number | null } }[] }
    }[]
  }
}

async function readBaseline(
  store: SearchStore,
  { tenant, service, firstSeenMs: toMs }: Asked,
  patterns: readonly string[],
): Promise<RecurrenceBaseline> {
  const before = [{ term: { tenant_id: tenant } }, { term: { service } }, range(toMs - MAX_BASELINE_MS, toMs)]
  const { aggregations: earliest } = await searchLogs(store, {
    ...{ fromMs: toMs - MAX_BASELINE_MS, toMs },
    body: {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter: before } },
      aggs: { first: { min: { field: 'timestamp' } } },
    },
  })
  const fromMs = (earliest as unknown as { readonly first: { readonly value: number | null } }).first.value ?? toMs
  if (toMs - fromMs < MIN_BASELINE_MS) return { fromMs: toMs, toMs, counts: new Map() }
  const edge = (part: number) => Math.round(fromMs + (part / BASELINE_PARTS) * (toMs - fromMs))
  const parts = Array.from({ length: BASELINE_PARTS }, (_, part) => [`${part}`, { range: rangeOf(edge(part), edge(part + 1)) }] as const)
  const { aggregations } = await searchLogs(store, {
    ...{ fromMs, toMs },
    body: {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter: [...before, { terms: { pattern_id: patterns } }] } },
      aggs: {
        parts: {
          filters: { filters: Object.fromEntries(parts) },
          aggs: { patterns: { terms: { field: 'pattern_id', size: MAX_PATTERNS } } },
        },
      },
    },
  })
  return { fromMs, toMs, counts: countsOf(aggregations as unknown as Parts | undefined, patterns) }
}

/** By pattern, its records of the baseline by minute. */
async function readSlices(
  store: SearchStore,
  { tenant, service }: Asked,
  { fromMs, toMs }: RecurrenceBaseline,
  patterns: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const { aggregations } = await searchLogs(store, {
    ...{ fromMs, toMs },
    body: {
      size: 0,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ term: { tenant_id: tenant } }, { term: { service } }, range(fromMs, toMs), { terms: { pattern_id: patterns } }],
        },
      },
      aggs: {
        patterns: {
          terms: { field: 'pattern_id', size: MAX_BURST_PATTERNS },
          aggs: { slices: { date_histogram: { field: 'timestamp', fixed_interval: `${SLICE_MS}ms`, min_doc_count: 1 } } },
        },
      },
    },
  })
  const { buckets } = (aggregations as unknown as Slices | undefined)?.patterns ?? { buckets: [] }
  const counts = new Map(buckets.map(({ key, slices }) => [key, new Map(slices.buckets.map(each => [each.key, each.doc_count]))]))
  return new Map(patterns.map(pattern => [pattern, counts.get(pattern) ?? new Map<number, number>()]))
}

interface Slices {
  readonly patterns: {
    readonly buckets: readonly {
      readonly key: string
      readonly slices: { readonly buckets: readonly { readonly key: number; readonly doc_count: number }[] }
    }[]
  }
}

interface Parts {
  readonly parts: {
    readonly buckets: Readonly<
      Record<string, { readonly patterns: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] } }>
    >
  }
}

function countsOf(answer: Parts | undefined, patterns: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const counts = new Map(patterns.map(pattern => [pattern, new Array<number>(BASELINE_PARTS).fill(0)]))
  for (const [part, bucket] of Object.entries(answer?.parts.buckets ?? {}))
    for (const { key, doc_count } of bucket.patterns.buckets) {
      const of = counts.get(key)
      if (of !== undefined) of[Number(part)] = doc_count
    }
  return counts
}

const rangeOf = (fromMs: number, toMs: number) => ({ timestamp: { gte: fromMs, lt: toMs, format: 'epoch_millis' } })
const range = (fromMs: number, toMs: number) => ({ range: rangeOf(fromMs, toMs) })
