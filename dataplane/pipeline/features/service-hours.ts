/** Counts of every service in one hour, as aggregations of the search store: no document leaves it. */
import { ALL_ANOMALIES, anomaliesIndex, LOGS_PREFIX } from '../../contract/indices.ts'
import { HOUR_MS } from '../../domain/features/feature-hour.ts'
import { LATENCY_FIELDS, LATENCY_PERCENTS, type LatencyGroup, type ServiceHour } from '../../domain/features/service-features.ts'
import { formatDay } from '../../domain/records/timestamp.ts'
import { isTenantId } from '../../domain/tenants/tenant.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import type { FeatureKey } from '../../ports/online-store.ts'
import { type SearchResult, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface ServiceOfHour extends FeatureKey, ServiceHour {}

export interface HourDeps {
  readonly store: SearchStore
  readonly log: Log
  /** Ends the reading with its reason. */
  readonly signal?: AbortSignal | undefined
}

export interface HourRequest {
  /** Start of the UTC hour. */
  readonly hourMs: number
  /** Anomalies of the 24 hours before this time are counted. */
  readonly anomaliesUntilMs: number
}

interface Bucket {
  readonly key: string
  readonly doc_count: number
  readonly errors?: { readonly doc_count: number }
}

/** More tenants, or services of one tenant, than this are left out, those with the fewest records first. */
const MAX_BUCKETS = 10_000
/** Services whose latencies come in one answer. */
const LATENCY_PAGE = 100
const DAY_MS = 24 * HOUR_MS

/** Services with records in the hour or anomalies before, one tenant after the other. */
export async function* readServiceHours(deps: HourDeps, request: HourRequest): AsyncGenerator<readonly ServiceOfHour[]> {
  const { store } = deps
  const { hourMs, anomaliesUntilMs } = request
  // A record of the hour lies in the index of its day: `timestamp` is well within retention.
  const logs = { index: `${LOGS_PREFIX}${formatDay(hourMs)}`, range: range(hourMs, hourMs + HOUR_MS) }
  const anomalies = { index: ALL_ANOMALIES, range: range(anomaliesUntilMs - DAY_MS, anomaliesUntilMs) }
  await store.refresh(logs.index)
  await store.refresh(anomalies.index)
  const tenants = new Set(
    [...(await countBy(store, logs, 'tenant_id')), ...(await countBy(store, anomalies, 'tenant_id'))]
      .map(({ key }) => key)
      .filter(isTenantId),
  )
  for (const tenant of tenants) {
    deps.signal?.throwIfAborted()
    const own = { ...logs, tenant }
    const found = await countBy(store, own, 'service')
    const latencies = await readLatencies(
      deps,
      own,
      found.map(({ key }) => key),
    )
    const counts = await countBy(store, { ...anomalies, index: anomaliesIndex(tenant), tenant }, 'service')
    const anomaliesOf = new Map(counts.map(({ key, doc_count }) => [key, doc_count]))
    const active = found.map(({ key: service, doc_count: records, errors }) => ({
      tenant,
      service,
      records,
      errors: errors?.doc_count ?? 0,
      latencies: latencies.get(service) ?? [],
      anomalies: anomaliesOf.get(service) ?? 0,
    }))
    for (const { service } of active) anomaliesOf.delete(service)
    const silent = [...anomaliesOf].map(([service, anomalies]) => ({ tenant, service, records: 0, errors: 0, latencies: [], anomalies }))
    yield [...active, ...silent]
  }
}

interface Scope {
  readonly index: string
  readonly range: object
  readonly tenant?: string
}

const ERRORS = { filter: { terms: { level: ['ERROR', 'FATAL'] } } }

async function countBy(store: SearchStore, scope: Scope, field: 'tenant_id' | 'service'): Promise<readonly Bucket[]> {
  return bucketsOf(await search(store, scope, [], { found: { terms: { field, size: MAX_BUCKETS }, aggs: { errors: ERRORS } } }))
}

const hasField = (field: string) => ({ exists: { field } })

interface LatencyBucket extends Bucket {
  readonly at: { readonly values: readonly { readonly value: number | null }[] }
}

/** Latencies of services by the field that they are in; a record belongs to the first field that it has. */
async function readLatencies(
  { store, log, signal }: HourDeps,
  scope: Scope,
  services: readonly string[],
): Promise<ReadonlyMap<string, readonly LatencyGroup[]>> {
  const groups = new Map<string, LatencyGroup[]>()
  const earlier: object[] = []
  // A request for each field that is in use: several in one cost many times as much.
  for (const { field, toMs } of LATENCY_FIELDS) {
    signal?.throwIfAborted()
    const hasIt = hasField(field)
    if ((await search(store, scope, [hasIt], {})).total === 0) continue
    const query = earlier.length === 0 ? hasIt : { bool: { filter: [hasIt], must_not: [...earlier] } }
    earlier.push(hasIt)
    try {
      for await (const bucket of readPercentiles(store, scope, { field, query, services }))
        groups.set(bucket.key, [...(groups.get(bucket.key) ?? []), ...toGroup(bucket, toMs)])
    } catch (error) {
      if (error instanceof SearchStoreUnavailable) throw error
      // An index from before its mapping was fixed may hold the field as text.
      log.warn({ error, field, tenant: scope.tenant }, 'latencies left out: the search store makes no percentiles of the field')
    }
  }
  return groups
}

interface PercentilesRequest {
  readonly field: string
  readonly query: object
  readonly services: readonly string[]
}

async function* readPercentiles(
  store: SearchStore,
  scope: Scope,
  { field, query, services }: PercentilesRequest,
): AsyncGenerator<LatencyBucket> {
  const at = { percentiles: { field, percents: LATENCY_PERCENTS, keyed: false } }
  for (const include of portionsOf(services, LATENCY_PAGE)) {
    const terms = { field: 'service', size: include.length, include }
    yield* bucketsOf<LatencyBucket>(await search(store, scope, [query], { found: { terms, aggs: { at } } }))
  }
}

/** Values that are no numbers make no percentiles. */
function toGroup({ doc_count: count, at: { values } }: LatencyBucket, toMs: number): readonly LatencyGroup[] {
  const atPercents = values.flatMap(({ value }) => (value === null ? [] : [value * toMs]))
  return atPercents.length === values.length ? [{ count, atPercents }] : []
}

function bucketsOf<B>({ aggregations }: SearchResult<unknown>): readonly B[] {
  return (aggregations?.['found'] as { readonly buckets: readonly B[] } | undefined)?.buckets ?? []
}

function search(
  store: SearchStore,
  { index, range, tenant }: Scope,
  filters: readonly object[],
  aggs: object,
): Promise<SearchResult<unknown>> {
  const ofTenant = tenant === undefined ? [] : [{ term: { tenant_id: tenant } }]
  // The index of one tenant that cannot be read costs no other its features.
  const takesPart = index === ALL_ANOMALIES && { takesPart: true as const }
  const query = { bool: { filter: [range, ...ofTenant, ...filters] } }
  return store.search({ index, ...takesPart, isBackground: true, body: { size: 0, query, aggs } })
}

/** From the first to before the second. */
function range(fromMs: number, toMs: number): object {
  return { range: { timestamp: { gte: new Date(fromMs).toISOString(), lt: new Date(toMs).toISOString() } } }
}
