/** The search store (Spec: Search store): queries in OpenSearch's DSL. */
import { ALL_ANOMALIES, ALL_INCIDENTS, ALL_LOGS, anomaliesIndex, incidentsIndex } from '../../contract/indices.ts'
import { parseTenant } from '../url-state/tenant.ts'
import { noteAnswer } from './note-missing.ts'
import { request } from './request.ts'

export const LEVELS = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'] as const
export type Level = (typeof LEVELS)[number]

/** Spec: Indexed log document. Custom attributes stand beside these by their dotted names. */
export interface LogDocument {
  readonly timestamp: string
  /** Within the millisecond. */
  readonly nanos?: number
  readonly log_id?: string
  readonly level: Level
  readonly service: string
  readonly message: string
  readonly host?: string
  readonly tenant_id?: string
  readonly trace_id?: string
  readonly span_id?: string
  readonly environment?: string
  readonly region?: string
  readonly batch_id?: string
  readonly is_anomaly?: boolean
  readonly anomaly_score?: number
  readonly pattern_id?: string
  readonly pattern?: string
  readonly [attribute: string]: unknown
}

export interface Hit<T> {
  readonly _index: string
  readonly _id: string
  readonly _source: T
  readonly sort?: readonly unknown[]
  readonly highlight?: Readonly<Record<string, readonly string[]>>
}

export interface Bucket {
  readonly key: string | number
  readonly key_as_string?: string
  readonly doc_count: number
  readonly [aggregation: string]: unknown
}

export interface SearchAnswer<T = LogDocument> {
  readonly took: number
  readonly hits: { readonly total: { readonly value: number; readonly relation: 'eq' | 'gte' }; readonly hits: readonly Hit<T>[] }
  readonly aggregations?: Readonly<Record<string, unknown>>
}

export type SearchBody = Readonly<Record<string, unknown>>

export function searchLogs(body: SearchBody, signal?: AbortSignal): Promise<SearchAnswer> {
  return searchIndex<LogDocument>(ALL_LOGS, body, signal)
}

/** Several searches of logs at once; the answers in their order. */
export function searchLogsEach(bodies: readonly SearchBody[], signal?: AbortSignal): Promise<readonly SearchAnswer[]> {
  return Promise.all(bodies.map(body => searchLogs(body, signal)))
}

export function searchAnomalies<T>(body: SearchBody, signal?: AbortSignal): Promise<SearchAnswer<T>> {
  const tenant = parseTenant(window.location.search)
  return searchIndex<T>(tenant === undefined ? ALL_ANOMALIES : anomaliesIndex(tenant), body, signal)
}

export function searchIncidents<T>(body: SearchBody, signal?: AbortSignal): Promise<SearchAnswer<T>> {
  const tenant = parseTenant(window.location.search)
  return searchIndex<T>(tenant === undefined ? ALL_INCIDENTS : incidentsIndex(tenant), body, signal)
}

/** An index that is not there yet has no documents. */
async function searchIndex<T>(index: string, body: SearchBody, signal: AbortSignal | undefined): Promise<SearchAnswer<T>> {
  const query = { ignore_unavailable: true }
  const answer = await request<SearchAnswer<T>>(`/api/search/${index}/_search`, { method: 'POST', body, query, signal })
  noteAnswer(signal, answer)
  return answer
}

export interface IndexRow {
  readonly health: string
  readonly status: string
  readonly index: string
  readonly 'docs.count': string
  readonly 'store.size': string
}

export function listIndices(signal?: AbortSignal): Promise<readonly IndexRow[]> {
  return request('/api/search/_cat/indices', { query: { format: 'json' }, signal })
}

/** The query of a time window, to stand in `filter`; `toMs` is not within it. */
export function timeFilter({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  return { range: { timestamp: { gte: new Date(fromMs).toISOString(), lt: new Date(toMs).toISOString() } } }
}

/** Buckets of the aggregation `name`; empty without any. */
export function bucketsOf(answer: { readonly [key: string]: unknown } | undefined, name: string): readonly Bucket[] {
  const found = answer?.[name] as { readonly buckets?: readonly Bucket[] } | undefined
  return found?.buckets ?? []
}
