/** Incidents as the pages read them: the list by filters, its counts, one incident with all that belongs to it. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SearchBody, searchIncidents, searchLogs } from '../../../api/search.ts'
import { serverNow } from '../../../api/server-clock.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { listDispatches, listIncidents, readAudit, readIncident } from '../../../api/ticketing.ts'
import { listSilences } from '../../../api/ticketing-config.ts'
import { keepUnless } from '../../../components/states/keep-shown.ts'
import { countsQuery, type IncidentCounts, type IncidentFilters, listQuery, readCounts } from '../rules/incident-filters.ts'
import { type ListPage, listOf, readPage } from '../rules/incident-pages.ts'
import { findSeenBefore, lastNote, READ_BEFORE } from '../rules/seen-before.ts'
import { findVersionChange, type VersionQuestion } from '../rules/version-change.ts'

/** How often what is shown is read again. */
const POLL_MS = 5_000
const SLOW_POLL_MS = 30_000

export const INCIDENT_KEYS = {
  all: ['incidents'],
  lists: ['incidents', 'list'],
  list: (filters: IncidentFilters) => ['incidents', 'list', filters],
  counts: (filters: IncidentFilters) => ['incidents', 'counts', { ...filters, order: '' }],
  one: (id: string) => ['incidents', 'one', id],
  audit: (id: string) => ['incidents', 'audit', id],
  dispatches: (id: string) => ['incidents', 'dispatches', id],
  // Not of `all`, which each change reads again.
  before: (id: string) => ['incidents-before', id],
} as const

export interface IncidentList {
  readonly incidents: readonly Incident[]
  readonly hasMore: boolean
  readonly isPending: boolean
  /** They are those of other filters, until the answer to these is there. */
  readonly isOutdated: boolean
  readonly isLoadingMore: boolean
  readonly error: Error | null
  loadMore(): void
  retry(): Promise<unknown>
}

export function useIncidentList(filters: IncidentFilters): IncidentList {
  const { data, error, isPending, isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: INCIDENT_KEYS.list(filters),
    initialPageParam: undefined as ListPage<Incident>['next'],
    queryFn: ({ pageParam, signal }) =>
      readPage(query => listIncidents(listQuery(filters, { ...query, nowMs: serverNow() }), signal), filters, pageParam),
    getNextPageParam: last => last.next,
    placeholderData: before => keepUnless(before, ({ pages }) => pages.every(page => page.incidents.length === 0)),
    refetchInterval: POLL_MS,
    meta: { quiet: true },
  })
  const incidents = useMemo(() => listOf(data?.pages ?? [], filters.order), [data, filters.order])
  return {
    ...{ incidents, isPending, isOutdated: isPlaceholderData, hasMore: hasNextPage, isLoadingMore: isFetchingNextPage },
    error: data === undefined ? error : null,
    loadMore: () => void fetchNextPage(),
    retry: refetch,
  }
}

export async function readIncidentCounts(filters: IncidentFilters, signal: AbortSignal): Promise<IncidentCounts> {
  const answer = await searchIncidents(countsQuery(filters, serverNow()), signal)
  return readCounts(answer as Parameters<typeof readCounts>[0])
}

export function useIncidentCounts(filters: IncidentFilters) {
  return useQuery({
    queryKey: INCIDENT_KEYS.counts(filters),
    queryFn: ({ signal }) => readIncidentCounts(filters, signal),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
    meta: { quiet: true },
  }).data
}

/** `known` is what the list has of it, to be shown at once. */
export function useIncident(id: string, known: Incident | undefined) {
  return useQuery({
    queryKey: INCIDENT_KEYS.one(id),
    queryFn: ({ signal }) => readIncident(id, signal),
    ...(known !== undefined && { placeholderData: known }),
    refetchInterval: POLL_MS,
    meta: { quiet: true },
  })
}

export function useAudit(id: string) {
  return useQuery({
    queryKey: INCIDENT_KEYS.audit(id),
    queryFn: ({ signal }) => readAudit(id, signal),
    refetchInterval: POLL_MS,
    meta: { quiet: true },
  })
}

export function useDispatches(id: string) {
  return useQuery({
    queryKey: INCIDENT_KEYS.dispatches(id),
    queryFn: ({ signal }) => listDispatches(id, signal),
    refetchInterval: POLL_MS,
    meta: { quiet: true },
  })
}

/** Earlier incidents of the same kind, with the note of the newest. Asked once: what was before does not change while one looks. */
export function useSeenBefore({ id, tenantId, service, createdAt, evidence }: Incident) {
  return useQuery({
    queryKey: INCIDENT_KEYS.before(id),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { incidents } = await listIncidents({ service, to: createdAt, limit: READ_BEFORE }, signal, tenantId)
      const before = findSeenBefore({ id, tenantId, createdAt, evidence }, incidents)
      const [newest] = before.latest
      return { ...before, note: newest === undefined ? undefined : lastNote(await readAudit(newest.id, signal)) }
    },
    meta: { quiet: true },
  })
}

/** Silences of a tenant, whichever the page looks at. */
export function useSilences(tenant: string) {
  return useQuery({
    queryKey: ['silences', tenant],
    queryFn: ({ signal }) => listSilences(signal, tenant),
    refetchInterval: SLOW_POLL_MS,
    meta: { quiet: true },
  })
}

/** Asked once: an incident's beginning does not move. */
export function useVersionChange(asked: VersionQuestion) {
  const { data } = useQuery({
    queryKey: ['version', asked],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const search = async (body: SearchBody) => (await searchLogs(body, signal)).hits.hits.map(({ _source }) => _source)
      return (await findVersionChange(search, asked)) ?? null
    },
    meta: { quiet: true },
  })
  return data ?? undefined
}
