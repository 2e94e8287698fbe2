import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Incident } from '../../../../domain/incidents/incident-fields.ts'
import { searchLogs } from '../../../api/search.ts'
import { readSamples, sampleIds, samplesBody, type WithEvidence } from '../rules/samples.ts'

/** The records that the evidence names, by pattern and `log_id`. */
export function useSamples(incident: WithEvidence & Pick<Incident, 'id'>) {
  const ids = useMemo(() => sampleIds(incident.evidence), [incident.evidence])
  return useQuery({
    queryKey: ['samples', incident.id, ids],
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => readSamples((await searchLogs(samplesBody(incident), signal)).hits.hits),
  })
}
