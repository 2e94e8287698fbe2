/** How the pages read: once again after a failure of the server, never after one of the request. */
import { type Query, QueryClient } from '@tanstack/react-query'
import { readNoting } from '../api/note-missing.ts'
import { RequestProblem } from '../api/problem.ts'

const STALE_MS = 5_000
const MAX_RETRIES = 1
const RETRY_MS = 800

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // The server may be on this machine, where a browser without a network reaches it.
        networkMode: 'always',
        refetchOnWindowFocus: true,
        persister: readNoting,
        retryDelay: RETRY_MS,
        retry: (count, error) => count < MAX_RETRIES && !(error instanceof RequestProblem && (error.status ?? 500) < 500),
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
  keepFailures(client)
  return client
}

/** A failure stays told while the same is read again. The library forgets it then: a page that repeats its readings would swing between failure and "Reading". */
function keepFailures(client: QueryClient): void {
  const failures = new WeakMap<Query, Error>()
  client.getQueryCache().subscribe(event => {
    if (event.type !== 'updated') return
    const { query, action } = event
    if (action.type === 'error' && query.state.error !== null) failures.set(query, query.state.error)
    if (action.type === 'success') failures.delete(query)
    const error = failures.get(query)
    if (action.type === 'fetch' && error !== undefined && query.state.status === 'pending') query.setState({ error, status: 'error' })
  })
}
