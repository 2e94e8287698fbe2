/** Sample records of an incident's evidence. */
import type { Evidence, Incident } from '../../../../domain/incidents/incident-fields.ts'
import type { Hit, LogDocument, SearchBody } from '../../../api/search.ts'
import { allClauses } from '../../logs/requests/scope.ts'

/** A day on both sides: event times of samples lie within the incident, but clocks differ. */
const MARGIN_MS = 86_400_000
const MAX_SAMPLES = 200

/** A record, and the id of its document. */
export type Sample = LogDocument & { readonly documentId: string }
export type Samples = ReadonlyMap<string, Sample>

export type WithEvidence = Pick<Incident, 'tenantId' | 'service' | 'evidence' | 'firstSeen' | 'lastSeen'>

export function sampleIds(evidence: readonly Evidence[]): readonly string[] {
  return [...new Set(evidence.flatMap(({ logIds }) => logIds))].sort().slice(0, MAX_SAMPLES)
}

/** Records without a trace that have one time share a `log_id`, those of other services and tenants, too: only records that the evidence means are asked for. */
export function samplesBody({ tenantId, service, evidence, firstSeen, lastSeen }: WithEvidence): SearchBody {
  const timestamp = {
    gte: new Date(Date.parse(firstSeen) - MARGIN_MS).toISOString(),
    lte: new Date(Date.parse(lastSeen) + MARGIN_MS).toISOString(),
  }
  return {
    size: MAX_SAMPLES,
    track_total_hits: false,
    query: allClauses([
      { terms: { log_id: sampleIds(evidence) } },
      { terms: { pattern_id: evidence.map(({ patternId }) => patternId) } },
      { term: { service } },
      { term: { tenant_id: tenantId } },
      { range: { timestamp } },
    ]),
  }
}

export function readSamples(hits: readonly Hit<LogDocument>[]): Samples {
  return new Map(hits.map(({ _id, _source }) => [keyOf(_source.pattern_id ?? '', _source.log_id ?? ''), { ..._source, documentId: _id }]))
}

/** Those of one pattern. */
export function samplesOf({ patternId, logIds }: Pick<Evidence, 'patternId' | 'logIds'>, samples: Samples): readonly Sample[] {
  return logIds.flatMap(logId => samples.get(keyOf(patternId, logId)) ?? [])
}

const keyOf = (patternId: string, logId: string): string => `${patternId} ${logId}`
