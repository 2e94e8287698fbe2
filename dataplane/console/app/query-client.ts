/** How the pages read: once again after a failure of the server, never after one of the request. */
import { QueryClient } from '@tanstack/react-query'
import { readNoting } from '../api/note-missing.ts'
import { RequestProblem } from '../api/problem.ts'

const STALE_MS = 5_000
const MAX_RETRIES = 1
const RETRY_MS = 800

export function createQueryClient(): QueryClient {
  return new QueryClient({
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
}
