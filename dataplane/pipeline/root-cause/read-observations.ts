/** Reads what the search for a root cause looks at: a bounded number of records of one tenant, whole traces where there are more (Decisions 6). */

import type { Observation } from '../../domain/root-cause/observed/observation.ts'
import { CALL_SITE_KEYS } from '../../domain/root-cause/observed/template.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { searchLogs } from '../search-logs.ts'
import { INSTANCE_KEYS, isStoredRecord, NODE_KEY, ObservationBuilder, type StoredRecord } from './build-observations.ts'
import { type Page, readPatterns } from './read-patterns.ts'
import { sliceTime, type TimeSlice } from './time-slices.ts'

/** Records of baseline and window that are looked at; where there are more, a sample of about so many. */
export const MAX_OBSERVATIONS = 50_000
/** Records that a sample is looked for in, for each one that is read. Busier tenants have slices of the time looked at, since each look reads a document. */
const LOOKED_AT_PER_READ = 2
/** Samples come out a little larger or smaller; nothing beyond this is read. */
const MAX_READ = 60_000
/** A sample smaller than this share of what it should be shows that trace ids are not spread evenly. */
const EVEN_SHARE = 0.4
/** One so much larger does as well. */
const MAX_SPREAD = 1.5
/** Records in which that is looked for. */
const PROBED_RECORDS = 10_000
/** The most that a search store gives in one answer. */
const PAGE_RECORDS = 10_000
/** Times are cut so that pages are about this full: the hits of larger ones outlive short collections of garbage, and stay for long. */
const PAGE_FILL = 0.1
/** Steps in which records are counted before they are read. */
const MAX_BUCKETS = 1_000
const MIN_BUCKET_MS = 1_000
/** Where one step holds more than a page the crowded time is counted again, in shorter steps. */
const MIN_CLOSE_BUCKET_MS = 20

const MINUTE_MS = 60_000
/** How long the baseline is: the first length that has enough records; quiet tenants need longer ones. */
const ENOUGH_RECORDS = 2_000
const BASELINES = [
  // Most traces of a short time tell more of a busy tenant than a few traces of a long time.
  { lengthMs: 5 * MINUTE_MS, enough: 30_000 },
  { lengthMs: 10 * MINUTE_MS, enough: 20_000 },
  { lengthMs: 15 * MINUTE_MS, enough: ENOUGH_RECORDS },
  { lengthMs: 60 * MINUTE_MS, enough: ENOUGH_RECORDS },
  { lengthMs: 24 * 60 * MINUTE_MS, enough: 0 },
] as const
const USUAL_BASELINE_MS = BASELINES[2].lengthMs

/** Bounded fields of the pipeline alone; attributes come as doc values, which end at 1,024 characters. */
const FIELDS = ['time_unix_nano', 'service', 'trace_id', 'span_id', 'level', 'log_id', 'pattern_id']
const DOC_VALUES = [...CALL_SITE_KEYS, ...INSTANCE_KEYS, NODE_KEY]
const FIELDS_WITH_PATTERN = [...FIELDS, 'pattern']
/** Patterns of a page that are read apart; where more are new, pages come with the patterns of all their records. */
const MAX_NEW_PATTERNS = 200

export interface Period {
  readonly tenant: string
  /** Start of the baseline, ms since the epoch. */
  readonly fromMs: number
  /** Start of the window. */
  readonly atMs: number
  /** The first time after the window. */
  readonly toMs: number
}

/** Where the baseline should begin, ms since the epoch: 15 minutes before the window, 5 where there are many records, an hour or a day where there are few. */
export async function baselineStart(store: SearchStore, { tenant, atMs, toMs }: Omit<Period, 'fromMs'>): Promise<number> {
  const startOf = (lengthMs: number) => Math.max(atMs - lengthMs, Math.min(0, atMs))
  if (toMs <= atMs) return startOf(USUAL_BASELINE_MS)
  for (const { lengthMs, enough } of BASELINES.slice(0, -1)) {
    const { total } = await count(store, tenant, { fromMs: startOf(lengthMs), toMs: atMs }, enough)
    if (total >= enough) return startOf(lengthMs)
  }
  return startOf(BASELINES.at(-1)!.lengthMs)
}

/** In no particular order, about `most` where there are more; empty when the window has no records. */
export async function readObservations(
  store: SearchStore,
  { tenant, fromMs, atMs, toMs }: Period,
  most: number = MAX_OBSERVATIONS,
): Promise<readonly Observation[]> {
  if (toMs <= atMs || toMs <= 0) return []
  if ((await count(store, tenant, { fromMs: atMs, toMs }, 1)).total === 0) return []
  const { total, buckets } = await survey(store, { tenant, fromMs, atMs, toMs })
  const lookedAt = Math.min((most * LOOKED_AT_PER_READ) / total, 1)
  const share = Math.min(most / (total * lookedAt), 1)
  const sample = share < 1 ? await chooseSample(store, { tenant, fromMs: probeStart(buckets, fromMs), toMs }, share) : []
  const observations: Observation[] = []
  const builder = new ObservationBuilder()
  let areFew = false
  /** In no order, which spares the store the sorting. A page that is full may lack some: each half of its time is read again. */
  const read = async (fromMs: number, toMs: number): Promise<void> => {
    if (observations.length >= MAX_READ) return
    const hasPatterns = !areFew
    const filter = [...inTime(tenant, fromMs, toMs), ...sample]
    const body = {
      size: PAGE_RECORDS,
      track_total_hits: false,
      seq_no_primary_term: false,
      _source: hasPatterns ? FIELDS_WITH_PATTERN : FIELDS,
      docvalue_fields: DOC_VALUES,
      query: { bool: { filter } },
    }
    const { hits: found } = await searchLogs<StoredRecord>(store, { body, fromMs, toMs })
    const middleMs = Math.floor((fromMs + toMs) / 2)
    if (found.length === PAGE_RECORDS && middleMs > fromMs) {
      await read(middleMs, toMs)
      return await read(fromMs, middleMs)
    }
    const hits = found.filter(({ source }) => isStoredRecord(source))
    if (!hasPatterns && !(await learn({ filter, fromMs, toMs }, hits))) {
      areFew = false
      return await read(fromMs, toMs)
    }
    for (const { source, fields } of hits) observations.push(builder.build(source, fields))
    if (hasPatterns) areFew = hits.length > MAX_NEW_PATTERNS && builder.patternCount <= MAX_NEW_PATTERNS
  }
  /** False: too many patterns of a page are new. */
  const learn = async (page: Page, hits: readonly { readonly source: StoredRecord }[]): Promise<boolean> => {
    const fresh = new Set<string>()
    for (const { source } of hits) if (!builder.knowsPattern(source.pattern_id)) fresh.add(source.pattern_id)
    if (fresh.size > MAX_NEW_PATTERNS) return false
    for (const [id, pattern] of await readPatterns(store, page, [...fresh])) builder.learnPattern(id, pattern)
    return true
  }
  const { key: firstMs } = buckets[0] ?? { key: fromMs }
  const spans = pagesOf(
    lookedAt < 1 ? sliceTime({ fromMs: Math.max(fromMs, firstMs), atMs, toMs }, lookedAt) : [{ fromMs, toMs }],
    buckets,
    share,
  )
  const readInTurn = async () => {
    for (const span of spans) await read(span.fromMs, span.toMs)
  }
  // While one page is taken in the store finds the next one.
  await Promise.all([readInTurn(), readInTurn()])
  return observations
}

interface TimeBucket {
  /** Its start, ms since the epoch. */
  readonly key: number
  readonly doc_count: number
}

/** How many records there are, and when. */
async function survey(store: SearchStore, { tenant, fromMs, toMs }: Period) {
  const stepMs = Math.max(Math.ceil((toMs - fromMs) / MAX_BUCKETS), MIN_BUCKET_MS)
  const { total, buckets } = await countBySteps(store, tenant, { fromMs, toMs }, stepMs)
  return { total, buckets: await lookCloser(store, tenant, { fromMs, toMs }, buckets, stepMs) }
}

/** The records of a day may all lie in its last seconds. */
async function lookCloser(
  store: SearchStore,
  tenant: string,
  { fromMs, toMs }: TimeSlice,
  buckets: readonly TimeBucket[],
  stepMs: number,
): Promise<readonly TimeBucket[]> {
  const isCrowded = ({ doc_count }: TimeBucket) => doc_count > PAGE_FILL * PAGE_RECORDS
  const first = buckets.findIndex(isCrowded)
  if (first < 0) return buckets
  const last = buckets.findLastIndex(isCrowded)
  const crowded = { fromMs: Math.max(buckets[first]!.key, fromMs), toMs: Math.min(buckets[last]!.key + stepMs, toMs) }
  const closeMs = Math.max(Math.ceil((crowded.toMs - crowded.fromMs) / MAX_BUCKETS), MIN_CLOSE_BUCKET_MS)
  if (2 * closeMs > stepMs) return buckets
  const closer = await countBySteps(store, tenant, crowded, closeMs)
  return [...buckets.slice(0, first), ...closer.buckets, ...buckets.slice(last + 1)]
}

async function countBySteps(store: SearchStore, tenant: string, { fromMs, toMs }: TimeSlice, stepMs: number) {
  const { total, aggregations } = await count(store, tenant, { fromMs, toMs }, true, {
    times: { date_histogram: { field: 'timestamp', fixed_interval: `${stepMs}ms`, min_doc_count: 1 } },
  })
  const { times } = aggregations as { readonly times: { readonly buckets: readonly TimeBucket[] } }
  return { total, buckets: times.buckets }
}

/** Times with about a page of records each, the latest first: one page of a short time is read faster than the same page of a long one. */
function* pagesOf(spans: Iterable<TimeSlice>, buckets: readonly TimeBucket[], share: number): Generator<TimeSlice> {
  const latestFirst = buckets.toReversed()
  for (const { fromMs, toMs } of spans) {
    let end = toMs
    let records = 0
    for (const { key, doc_count } of latestFirst) {
      if (key >= toMs) continue
      if (key <= fromMs) break
      records += doc_count * share
      if (records < PAGE_FILL * PAGE_RECORDS) continue
      yield { fromMs: key, toMs: end }
      end = key
      records = 0
    }
    yield { fromMs, toMs: end }
  }
}

/** From when on there are enough records to see whether trace ids are spread evenly. */
function probeStart(buckets: readonly TimeBucket[], fromMs: number): number {
  let records = 0
  for (const { key, doc_count } of buckets.toReversed()) {
    records += doc_count
    if (records >= PROBED_RECORDS) return key
  }
  return fromMs
}

/**
 * The same share of baseline and window: whole traces by the beginning of their ids, records without one by that of `log_id`, a hash. Where trace ids
 * do not begin at random, which the records of `probed` show, all records are chosen by `log_id`.
 */
async function chooseSample(store: SearchStore, { tenant, fromMs, toMs }: Omit<Period, 'atMs'>, share: number): Promise<readonly object[]> {
  // 8 hex digits are 32 bits.
  const end = Math.floor(share * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
  const ofHash = { range: { log_id: { lt: end } } }
  const untraced = { bool: { must_not: [{ exists: { field: 'trace_id' } }], filter: [ofHash] } }
  const whole = [{ bool: { should: [{ range: { trace_id: { lt: end } } }, untraced], minimum_should_match: 1 } }]
  const probed = { fromMs, toMs }
  const [all, chosen] = await Promise.all([count(store, tenant, probed, true), count(store, tenant, { ...probed, and: whole }, true)])
  const expected = all.total * share
  return chosen.total > expected * EVEN_SHARE && chosen.total <= expected * MAX_SPREAD ? whole : [ofHash]
}

function inTime(tenant: string, fromMs: number, toMs: number): readonly object[] {
  // Records have no time before 1970.
  const [gte, lt] = [fromMs, toMs].map(ms => isoTime(Math.max(ms, 0)))
  return [{ term: { tenant_id: tenant } }, { range: { timestamp: { gte, lt } } }]
}

/** `upTo`: counted no further; true: all. */
function count(store: SearchStore, tenant: string, { fromMs, toMs, and = [] }: Counted, upTo: number | true, aggs?: object) {
  const query = { bool: { filter: [...inTime(tenant, fromMs, toMs), ...and] } }
  const body = { size: 0, track_total_hits: upTo, query, ...(aggs !== undefined && { aggs }) }
  return searchLogs(store, { body, fromMs, toMs })
}

interface Counted extends TimeSlice {
  /** Further filters. */
  readonly and?: readonly object[]
}
