/** Where no log has ever come: how the first one gets in, on each page that would be empty. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { searchLogs } from '../../api/search.ts'
import { useLink } from '../../url-state/links.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { UploadCommandLine } from '../copy/upload-command-line.tsx'
import { EmptyState } from './states.tsx'

/** How often a page without logs looks for the first one. */
const POLL_MS = 5_000

/** Whether there is any record at all; undefined while that is not known. A failure counts as yes: it is told of elsewhere. */
export function useAnyLogs(): boolean | undefined {
  const { data, error } = useQuery({
    queryKey: ['logs', 'any'],
    queryFn: async ({ signal }) => (await searchLogs({ size: 1, _source: false, track_total_hits: false }, signal)).hits.hits.length > 0,
    refetchInterval: ({ state }) => (state.data === false ? POLL_MS : false),
    meta: { quiet: true },
  })
  return data ?? (error === null ? undefined : true)
}

const FIRST_RECORD = `\\
  '{"service":"checkout","level":"ERROR","message":"payment gateway timeout"}'`

/** How the first log gets in: shown where there is none at all. */
export function FirstLog() {
  const link = useLink()
  const tenant = parseTenant(useSearch())
  return (
    <EmptyState title="No logs yet">
      <p>Paste this into a terminal to send the first one:</p>
      <UploadCommandLine data={FIRST_RECORD} />
      <p>
        Or <Link href={link('/upload')}>drop a file of logs</Link>, or let a made-up shop send some and break:{' '}
        <code>logpipeline demo{tenant === undefined ? '' : ` --tenant ${tenant}`}</code>
      </p>
    </EmptyState>
  )
}
