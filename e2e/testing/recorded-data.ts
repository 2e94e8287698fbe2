/** The contents of a recorded `DATA_DIR`, asked for as users ask. */
import { join } from 'node:path'
import { createCaller } from '../../dataplane/testing/http-caller.ts'
import { postJson, scanLogs } from './api.ts'
import type { Standalone } from './standalone-process.ts'

export const FOLDER = join(import.meta.dirname, '../testdata')

export interface Recorded {
  readonly version: string
  readonly recordedAt: string
  /** An API key of tenant `shop`, good for the data of this recording alone. */
  readonly key: string
  /** The index that refuses the record of the letter. */
  readonly dayOfLetter: string
  /** Records that were on the bus alone. */
  readonly backlog: number
  readonly features: Readonly<Record<string, readonly unknown[]>>
  readonly found: Found
}

export interface Found {
  readonly logs: readonly unknown[]
  /** By the text of a query: how many documents it finds. */
  readonly counts: Readonly<Record<string, number>>
  readonly incidents: readonly unknown[]
  readonly audit: readonly unknown[]
  readonly config: unknown
}

/** A query for each way in which a segment is read: words, phrases, terms, columns, ranges, times, patterns of names, what was folded away. */
const QUERIES: readonly object[] = [
  { match: { message: 'refused' } },
  { match_phrase: { message: 'paid by card' } },
  { term: { service: 'shipping' } },
  { term: { level: 'ERROR' } },
  { term: { 'record.id': 'r7' } },
  { terms: { 'record.id': ['r3', 'r45'] } },
  { range: { attempt: { gte: 1 } } },
  { wildcard: { service: 's*' } },
  { exists: { field: 'pattern_id' } },
  { query_string: { query: 'message:paid AND NOT service:cart' } },
  { term: { is_anomaly: true } },
]

/** The services that the recording is made of; the caller may have sent others. */
const SERVICES = { terms: { service: ['cart', 'shipping', 'open', 'acknowledged', 'resolved'] } }

interface Hits {
  readonly hits: { readonly hits: readonly { readonly _source: unknown }[] }
}

export async function seenIn({ search, ticketing }: Pick<Standalone, 'search' | 'ticketing'>): Promise<Found> {
  const counts: Record<string, number> = {}
  for (const query of QUERIES) {
    const body = { query: { bool: { filter: [SERVICES, query] } } }
    counts[JSON.stringify(query)] = ((await postJson(`${search}/service-logs-*/_count`, body)) as { count: number }).count
  }
  const api = createCaller(ticketing)
  const read = async (path: string): Promise<unknown> => {
    const { status, body } = await api.send('GET', path)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  const listed = (await read('/api/incidents?limit=10')) as readonly { readonly id: string }[]
  const incidents = []
  for (const id of listed.map(each => each.id).sort())
    incidents.push(kept((await read(`/api/incidents/${id}`)) as Readonly<Record<string, unknown>>))
  const { anomaly, routing, platforms } = (await read('/api/v1/config')) as Readonly<Record<string, unknown>>
  const audit = (await postJson(`${search}/service-audit-*/_search`, { size: 100, sort: ['timestamp', '_seq_no'] })) as Hits
  return {
    ...{ logs: await scanLogs(search, SERVICES), counts, incidents, audit: audit.hits.hits.map(hit => hit._source) },
    config: { anomaly, routing, platforms },
  }
}

/** The members of an incident that must stay as they are; a later version may know more. */
function kept({ id, service, status, severity, title, anomalyCount, createdAt, dispatches }: Readonly<Record<string, unknown>>) {
  return { id, service, status, severity, title, anomalyCount, createdAt, dispatches }
}
