/** Material of the prompt from the search store: lines that the evidence names, and similar incidents of the past. */
import { ALL_LOGS, incidentsIndex } from '../../contract/indices.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import type { LogLine, PastIncident } from '../../domain/language-model/prompt.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import type { SearchStore } from '../../ports/search-store.ts'

const MAX_LINES = 10
/** Resolved incidents that are looked at for one that is alike. */
const MAX_PAST_SEEN = 50
const MAX_SIMILAR = 3
/** Lines are looked for so long before and after the incident. */
const AROUND_MS = 3_600_000

/** Fields that may ever reach a model (Decisions 6). */
const LINE_FIELDS = ['timestamp', 'level', 'service', 'message', 'log_id']
const PAST_FIELDS = ['id', 'title', 'service', 'resolvedAt', 'evidence', 'rootCause']

type StoredLine = LogLine & { readonly log_id: string }

/** Log lines that the evidence names, each once; those that speak for the first candidate come first. */
export async function readLines(
  store: SearchStore,
  { tenantId, evidence, firstSeen, lastSeen }: Incident,
  { candidates }: RootCause,
): Promise<readonly LogLine[]> {
  const named = [...candidates.flatMap(({ reasons }) => reasons), ...evidence].map(({ logIds }) => logIds[0])
  const logIds = [...new Set(named.filter(id => id !== undefined))].slice(0, MAX_LINES)
  if (logIds.length === 0) return []
  const timestamp = { gte: isoTime((Date.parse(firstSeen) || 0) - AROUND_MS), lte: isoTime((Date.parse(lastSeen) || 0) + AROUND_MS) }
  const filter = [{ term: { tenant_id: tenantId } }, { terms: { log_id: logIds } }, { range: { timestamp } }]
  const body = { size: MAX_LINES, track_total_hits: false, _source: LINE_FIELDS, query: { bool: { filter } } }
  const { hits } = await store.search<StoredLine>({ index: ALL_LOGS, body, takesPart: true })
  const byId = new Map(hits.map(({ source }) => [source.log_id, source]))
  return logIds.flatMap(id => byId.get(id) ?? [])
}

/** Resolved ones of the tenant that share most patterns, the newest first. */
export async function readSimilar(store: SearchStore, incident: Incident, { candidates }: RootCause): Promise<readonly PastIncident[]> {
  const services = [...new Set([incident.service, ...candidates.map(({ service }) => service)])]
  const body = {
    size: MAX_PAST_SEEN,
    track_total_hits: false,
    _source: PAST_FIELDS,
    query: {
      bool: {
        filter: [{ term: { status: 'resolved' } }, { terms: { service: services } }],
        must_not: [{ ids: { values: [incident.id] } }],
      },
    },
    sort: [{ lastSeen: { order: 'desc', unmapped_type: 'date' } }],
  }
  const { hits } = await store.search<Incident>({ index: incidentsIndex(incident.tenantId), body })
  const patterns = new Set(incident.evidence.map(({ patternId }) => patternId))
  const shared = ({ evidence }: Incident) => evidence.filter(({ patternId }) => patterns.has(patternId)).length
  return hits
    .map(({ source }) => ({ past: source, shared: shared(source) }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared)
    .slice(0, MAX_SIMILAR)
    .map(({ past }) => toPast(past))
}

function toPast({ title, service, resolvedAt = '', rootCause }: Incident): PastIncident {
  const first = rootCause?.candidates[0]
  const reason = first?.reasons[0]?.text
  return { title, service, resolvedAt, ...(first !== undefined && { cause: first.service }), ...(reason !== undefined && { reason }) }
}
