import { useQuery } from '@tanstack/react-query'
import { searchLogs } from '../../api/search.ts'
import { logsKey } from './use-logs.ts'

/** Whether there is any record at all; undefined while that is not known. A failure counts as yes: it is told of elsewhere. */
export function useAnyLogs(): boolean | undefined {
  const { data, error } = useQuery({
    queryKey: logsKey('any'),
    queryFn: async ({ signal }) => (await searchLogs({ size: 1, _source: false, track_total_hits: false }, signal)).hits.hits.length > 0,
  })
  return data ?? (error === null ? undefined : true)
}
