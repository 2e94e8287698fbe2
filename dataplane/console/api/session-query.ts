import { readSession } from './dashboard.ts'

/** The session, which tells who is logged in: asked once for all parts of the console. */
export const SESSION_QUERY = {
  queryKey: ['session'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => readSession(signal),
  staleTime: 60_000,
  meta: { quiet: true },
} as const
