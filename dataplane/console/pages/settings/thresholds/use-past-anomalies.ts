import { useQuery } from '@tanstack/react-query'
import { searchAnomalies } from '../../../api/search.ts'
import { serverNow } from '../../../api/server-clock.ts'
import type { PastAnomaly } from '../rules/would-have-caught.ts'

const DAY_MS = 86_400_000
/** Anomalies that are read; where there are more, the newest count. */
export const MAX_PAST = 10_000
const FIELDS = ['timestamp', 'tenant_id', 'service', 'level', 'trace_id', 'score', 'anomaly_score', 'detectors']

export interface PastAnomalies {
  readonly anomalies: readonly PastAnomaly[]
  /** There were more than are read. */
  readonly isCut: boolean
}

/** The anomalies of the last day. */
export function usePastAnomalies() {
  return useQuery({
    queryKey: ['past-anomalies'],
    staleTime: 60_000,
    async queryFn({ signal }): Promise<PastAnomalies> {
      const { hits } = await searchAnomalies<PastAnomaly>(
        {
          size: MAX_PAST,
          track_total_hits: MAX_PAST + 1,
          _source: FIELDS,
          sort: [{ timestamp: { order: 'desc', unmapped_type: 'date' } }],
          query: { bool: { filter: [{ range: { timestamp: { gte: new Date(serverNow() - DAY_MS).toISOString() } } }] } },
        },
        signal,
      )
      return { anomalies: hits.hits.map(({ _source }) => _source), isCut: hits.total.value > MAX_PAST }
    },
  })
}
